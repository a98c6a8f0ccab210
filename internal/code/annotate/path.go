// This file determines the path of each file's sidecar. The directories below the sidecar directory mirror the
// directories of the source files.

package annotate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// DefaultDir is the default sidecar directory, relative to the root of the working tree.
const DefaultDir = ".oxbow/annotations"

// sidecarSuffix is the end of each sidecar's name. A sidecar is a file with the annotations of one source file.
const sidecarSuffix = ".why"

// CheckFile checks whether a file with this path can be annotated. If not, the error matches [oxbow.ErrInvalid]. A
// valid path is relative, slash-separated, inside the tree, outside .git, valid UTF-8, and at most 4,096 bytes long.
func CheckFile(name string) error {
	reason := ""
	switch {
	case name == "" || name == ".":
		reason = "is no file"
	case len(name) > 4096:
		name, reason = name[:60]+"…", "is longer than 4096 bytes"
	case !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0:
		reason = "is not a slash-separated path inside the working tree"
		if !utf8.ValidString(name) {
			reason = "is not UTF-8"
		}
	default:
		for part := range strings.SplitSeq(name, "/") {
			if strings.EqualFold(part, ".git") {
				reason = "is git's own"
			}
		}
	}
	if reason == "" {
		return nil
	}
	return &oxbow.InvalidError{Field: "file", Value: strings.ToValidUTF8(name, "\ufffd"), Reason: reason}
}

// maxPathElementBytes is the maximum length, in bytes, of each name in a sidecar's path, without the suffix. Most file
// systems allow names of 255 bytes.
const maxPathElementBytes = 200

// sidecarPath returns the path of a file's sidecar, relative to the annotations directory. The directories mirror the
// directories of the source files. Characters that some file systems refuse are percent-encoded. A directory name that
// ends like a sidecar's name is encoded as well, so that two files never have the same sidecar.
func sidecarPath(file string) string {
	parts := strings.Split(file, "/")
	for i, p := range parts {
		parts[i] = encodePathElement(p, i < len(parts)-1)
	}
	return strings.Join(parts, "/") + sidecarSuffix
}

func encodePathElement(element string, isDir bool) string {
	var b strings.Builder
	for i := range len(element) {
		c := element[i]
		odd := c < 0x20 || c == 0x7f || strings.IndexByte(`%"*:<>?|\`, c) >= 0 ||
			((c == '.' || c == ' ') && i == len(element)-1) ||
			(i == 0 && (isReservedName(element) || element == ".lock" || element == ".gitignore" ||
				element == ".gitattributes")) ||
			(isDir && i == len(element)-len(sidecarSuffix) && strings.HasSuffix(element, sidecarSuffix))
		if odd {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	s := b.String()
	if len(s) > maxPathElementBytes {
		sum := sha256.Sum256([]byte(element))
		s = strings.TrimRight(
			text.TruncateBytes(s, maxPathElementBytes-40),
			"%. 0123456789ABCDEF",
		) + "%~" + hex.EncodeToString(
			sum[:12],
		)
	}
	return s
}

// isReservedName reports whether Windows reserves the name for a device. Port names with a superscript number, such as
// COM¹, do not count. They did not count in older versions, and a different answer would change the paths of existing
// annotation files.
func isReservedName(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	return text.IsDeviceName(name) && !strings.ContainsAny(base, "¹²³")
}

// fileOfSidecarPath returns the source file to which a sidecar belongs. It returns false if the path is not a
// sidecar's path. It also returns false if a name in the path was shortened, because only the records in the sidecar
// then contain the file's name.
func fileOfSidecarPath(sidecar string) (string, bool) {
	name, ok := strings.CutSuffix(sidecar, sidecarSuffix)
	if !ok || strings.Contains(name, "%~") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		c, err := hex.DecodeString(name[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.WriteByte(c[0])
		i += 2
	}
	file := b.String()
	if CheckFile(file) != nil || sidecarPath(file) != path.Clean(sidecar) {
		return "", false
	}
	return file, true
}
