// This file converts entry names to file names and back.
//
// A stem is a file name without ".md". A name that is safe on all systems is used as stem unchanged. Otherwise, each
// byte of the following characters is written as %XX:
//   - / \ : * ? " < > | % and control characters
//   - characters that change the direction of text or break lines, and invisible formatting characters (U+200E, U+200F,
//     U+2028 to U+202E, U+2066 to U+2069, U+FEFF)
//   - a dot at the beginning or the end
//   - the first letter of a name that Windows reserves for a device, such as CON
//   - bytes that are not UTF-8
//
// Some names cannot be represented in this way. Such a name is stored in the file's block of data, and the stem is only
// similar to the name. These names are:
//   - the empty name
//   - a name that ends in a space, because mdbook decodes %20 in a link to a space
//   - a name whose stem has more than 200 bytes; the stem is cut and gets a hash
//   - a name whose stem some file system treats as equal to another stem; the stem gets ~2, ~3, …

package mdtree

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"golang.org/x/text/unicode/norm"
)

// maxFileStemBytes is the maximum length, in bytes, of a stem that represents a name. With a suffix and
// ".md", it is shorter than the 255 bytes that file systems allow.
const maxFileStemBytes = 200

const upperHex = "0123456789ABCDEF"

// encodeNameAsFileStem returns the stem for a name. isNameRecoverable is true if the stem represents the name, that
// is, if decodeFileStem(stem) == name.
func encodeNameAsFileStem(name string) (stem string, isNameRecoverable bool) {
	if name == "" {
		return "empty", false
	}
	if isNameUsableAsStem(name) {
		return name, true
	}
	var b strings.Builder
	device := text.IsDeviceName(name)
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		edge := i == 0 || i+n == len(name)
		switch {
		case r == utf8.RuneError && n == 1, isReservedRune(r), r == '.' && edge, i == 0 && device:
			for _, c := range []byte(name[i : i+n]) {
				b.WriteByte('%')
				b.WriteByte(upperHex[c>>4])
				b.WriteByte(upperHex[c&15])
			}
		default:
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	stem = b.String()
	last, _ := utf8.DecodeLastRuneInString(stem)
	if len(stem) <= maxFileStemBytes && !unicode.IsSpace(last) {
		return stem, true
	}
	sum := sha256.Sum256([]byte(name))
	return shortenStem(stem, maxFileStemBytes-40) + "~" + hex.EncodeToString(sum[:8]), false
}

// isNameUsableAsStem quickly checks whether an entry's name can be used unchanged as the name of its file without .md.
// If it returns true, the name contains only ASCII letters, digits, hyphens, underscores and spaces, and has no space
// at either end. If it returns false, the name may still be usable.
func isNameUsableAsStem(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		case c == ' ' && i > 0 && i < len(name)-1:
		default:
			return false
		}
	}
	// length of the longest name that Windows reserves for a device and that consists only of letters and digits
	const longestDevice = 4
	return len(name) <= maxFileStemBytes && (len(name) > longestDevice || !text.IsDeviceName(name))
}

// shortenStem shortens a stem to at most maxBytes bytes. It does not cut within a character or an escape, and removes
// dots and white space at the end.
func shortenStem(stem string, maxBytes int) string {
	if len(stem) > maxBytes {
		maxBytes = len(text.TruncateBytes(stem, maxBytes))
		for k := 1; k <= 2; k++ {
			if maxBytes >= k && stem[maxBytes-k] == '%' {
				maxBytes -= k
				break
			}
		}
		stem = stem[:maxBytes]
	}
	return strings.TrimRightFunc(stem, func(r rune) bool { return r == '.' || unicode.IsSpace(r) })
}

// decodeFileStem returns the entry name that a file name without extension (stem) represents. If encoding never results
// in this stem, the stem itself is the name, because other programs write names without encoding.
func decodeFileStem(stem string) string {
	if !strings.Contains(stem, "%") {
		return stem
	}
	var b strings.Builder
	for i := 0; i < len(stem); i++ {
		if stem[i] != '%' {
			b.WriteByte(stem[i])
			continue
		}
		if i+2 >= len(stem) {
			return stem
		}
		hi, lo := strings.IndexByte(upperHex, stem[i+1]), strings.IndexByte(upperHex, stem[i+2])
		if hi < 0 || lo < 0 {
			return stem
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	if s, shown := encodeNameAsFileStem(b.String()); !shown || s != stem {
		return stem
	}
	return b.String()
}

// fileStemsLackingNames returns the stems (file names without extension) of those entries in a directory whose names
// cannot be recovered from their stems. The keys are the indexes of the entries. Each entry that is not in the result
// gets the stem that encodeNameAsFileStem returns. An entry is in the result in two cases: if encodeNameAsFileStem
// cannot represent its name, or if some file systems treat its stem and an earlier entry's stem as equal (see
// foldFileName). No file system treats two of the chosen stems as equal.
//
// The directory has n entries. The function nameAt returns the name of the entry with the index i. The names must be
// sorted and distinct. The result depends only on the set of names.
func fileStemsLackingNames(n int, nameAt func(i int) string) map[int]string {
	// Compare hashes of the folded file names first, because a set with all folded names would need much memory.
	hashes := make([]uint64, 0, n)
	var unshown []int
	for i := range n {
		if stem, ok := encodeNameAsFileStem(nameAt(i)); ok {
			hashes = append(hashes, hashFoldedFileStem(stem))
		} else {
			unshown = append(unshown, i)
		}
	}
	slices.Sort(hashes)
	// First assign the file names that represent their entry's name completely. Therefore an entry named "a~2" gets
	// the file a~2.md, and an entry "a" whose file name is taken gets another suffix.
	taken := map[string]bool{}
	for i := range n {
		stem, ok := encodeNameAsFileStem(nameAt(i))
		if !ok || !isRepeatedHash(hashes, hashFoldedFileStem(stem)) {
			continue
		}
		key := foldFileName(stem)
		if taken[key] {
			unshown = append(unshown, i)
		}
		taken[key] = true
	}
	slices.Sort(unshown)
	isTaken := func(key string) bool {
		_, found := slices.BinarySearch(hashes, hashKey(key))
		return found || taken[key]
	}
	stems := make(map[int]string, len(unshown))
	// For each folded file name, the number to append at the next attempt. The time thus stays linear if many names
	// are similar.
	next := make(map[string]int)
	for _, i := range unshown {
		first, _ := encodeNameAsFileStem(nameAt(i))
		stem, base := first, foldFileName(first)
		for key := base; isTaken(key); key = foldFileName(stem) {
			next[base] = max(next[base], 1) + 1
			stem = first + "~" + strconv.Itoa(next[base])
		}
		taken[foldFileName(stem)] = true
		stems[i] = stem
	}
	return stems
}

// isRepeatedHash reports whether a sorted list contains a hash more than once.
func isRepeatedHash(hashes []uint64, hash uint64) bool {
	i, _ := slices.BinarySearch(hashes, hash)
	return i+1 < len(hashes) && hashes[i+1] == hash
}

// hashFoldedFileStem returns the hash of foldFileName(stem), where stem is a file name without extension.
func hashFoldedFileStem(stem string) uint64 {
	if !isASCII(stem) {
		return hashKey(foldFileName(stem))
	}
	h := uint64(fnvOffset)
	for i := range len(stem) {
		c := stem[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		h = (h ^ uint64(c)) * fnvPrime
	}
	return h
}

// hashKey returns the FNV-1a hash of key, a file name that foldFileName has returned. If two names have the same hash,
// a dump may append a number to one of the file names. The hash must be the same in all processes, because otherwise
// another process could choose different file names for the same entries.
func hashKey(key string) uint64 {
	h := uint64(fnvOffset)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * fnvPrime
	}
	return h
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func isReservedRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|%`, r)
	}
	return unicode.IsControl(r) || r == 0x200e || r == 0x200f || r == 0xfeff ||
		(r >= 0x2028 && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069)
}

// foldFileName returns the same string for two file names if some file system considers the names equal. Such names
// differ in case, in Unicode normal form, or in ignorable characters. foldFileName considers more names equal than any
// single file system does. It decomposes the name into normal form NFKD, removes ignorable characters, and folds the
// case of each character. Some characters become several characters if their case is folded. NFKD has already split
// these characters, except for the sharp s, so foldFileName replaces the sharp s by SS.
func foldFileName(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r == 'ß' || r == 'ẞ':
			b.WriteString("SS")
		case isIgnorableRune(r):
		default:
			b.WriteRune(foldRune(r))
		}
	}
	return b.String()
}

// foldRune returns the smallest character that is equal to r if case is ignored. The result may be r itself.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// isIgnorableRune reports whether file systems that ignore case also ignore the character
// (Default_Ignorable_Code_Point in Unicode).
func isIgnorableRune(r rune) bool {
	return r == 0xad || r == 0x34f || r == 0x61c || (r >= 0x115f && r <= 0x1160) ||
		(r >= 0x17b4 && r <= 0x17b5) || (r >= 0x180b && r <= 0x180f) || (r >= 0x200b && r <= 0x200f) ||
		(r >= 0x202a && r <= 0x202e) || (r >= 0x2060 && r <= 0x206f) || r == 0x3164 ||
		(r >= 0xfe00 && r <= 0xfe0f) || r == 0xfeff || r == 0xffa0 || (r >= 0xfff0 && r <= 0xfff8) ||
		(r >= 0x1bca0 && r <= 0x1bca3) || (r >= 0x1d173 && r <= 0x1d17a) || (r >= 0xe0000 && r <= 0xe0fff)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
