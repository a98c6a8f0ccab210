// This file identifies the old and the new text of an edit by hashes, so that a later edit that
// does the opposite can be recognized.

package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// minReplaced is the minimum number of letters and digits in an edit that is identified. Shorter
// texts occur in many places of a file.
const minReplaced = 8

// identify sets Was and Became of a call that changed a single file. The function clean is applied
// to the texts before they are hashed.
func identify(c *session.Call, in *input, clean func(string) string) {
	if len(c.Wrote) != 1 {
		return
	}
	before, after := in.OldString+in.OldStringC+in.OldStr, in.NewString+in.NewStringC+in.NewStr
	if before == "" && after == "" {
		before, after = replacedByPatch(commandLine(*in) + in.Input + in.Patch + in.PatchText)
	}
	before, after = changedPart(clean(before), clean(after))
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, before+after)
	if before != after && len(letters) >= minReplaced {
		c.Was, c.Became = textDigest(before), textDigest(after)
	}
}

// replacedByPatch returns the lines that an apply_patch patch removes and the lines that it adds.
// It returns empty texts if the patch updates no file.
func replacedByPatch(patch string) (before, after string) {
	_, patch, ok := strings.Cut(patch, "*** Update File: ")
	if !ok {
		return "", ""
	}
	for l := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(l, "-"):
			before += l[1:]
		case strings.HasPrefix(l, "+"):
			after += l[1:]
		}
	}
	return before, after
}

// changedPart removes the lines with which both texts begin and end.
func changedPart(before, after string) (string, string) {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.Join(a, "\n"), strings.Join(b, "\n")
}

// identifyFile sets Before and After of a call that changed a single file, as far as they are
// known. Claude Code reports the file before an edit, and a call that writes a whole file contains
// the new text. White space at the beginning and at the end of the file is ignored.
func identifyFile(c *session.Call, in *input, o Outcome, clean func(string) string) {
	if len(c.Wrote) != 1 {
		return
	}
	digest := func(text string) string { return textDigest(strings.TrimSpace(clean(text))) }
	before, after := in.OldString+in.OldStringC+in.OldStr, in.NewString+in.NewStringC+in.NewStr
	if o.Original != nil {
		c.Before = digest(*o.Original)
	}
	switch {
	case in.Content != nil:
		c.After = digest(*in.Content)
	case in.FileText != nil:
		c.After = digest(*in.FileText)
	case o.Original == nil || before == "" || !strings.Contains(*o.Original, before):
	case in.ReplaceAll:
		c.After = digest(strings.ReplaceAll(*o.Original, before, after))
	default:
		c.After = digest(strings.Replace(*o.Original, before, after, 1))
	}
}

func textDigest(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])[:session.ReplacedLen]
}
