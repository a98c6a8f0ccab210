// This file identifies the old and the new text of an edit by hashes. A later edit that does the opposite is
// recognized by these hashes.

package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// minHashedTextChars is the minimum number of letters and digits in a text that is hashed. A shorter text may occur in
// many places of a file.
const minHashedTextChars = 8

// setTextHashes sets c.OldTextHash and c.NewTextHash, which are hashes of the text before and after an edit. The
// function clean is applied to both texts first, so that no hash depends on a secret. Lines that both texts have in
// common at the beginning or the end are not hashed. setTextHashes changes nothing if the call did not write exactly
// one file, if both texts are equal, or if they have less than minHashedTextChars letters and digits.
func setTextHashes(c *session.ToolCall, args *toolInput, clean func(string) string) {
	if len(c.WrittenFiles) != 1 {
		return
	}
	before, after := args.OldString+args.OldStringCamel+args.OldStr, args.NewString+args.NewStringCamel+args.NewStr
	if before == "" && after == "" {
		before, after = textsReplacedByPatch(commandLine(*args) + args.Input + args.Patch + args.PatchText)
	}
	before, after = trimCommonLines(clean(before), clean(after))
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, before+after)
	if before != after && len(letters) >= minHashedTextChars {
		c.OldTextHash, c.NewTextHash = hashText(before), hashText(after)
	}
}

// textsReplacedByPatch returns the lines that a patch in the form of apply_patch removes, and the lines that it adds.
// Both texts are empty if the patch updates no file.
func textsReplacedByPatch(patch string) (before, after string) {
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

// trimCommonLines removes the lines that both texts have in common at their beginning and end.
func trimCommonLines(before, after string) (string, string) {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.Join(a, "\n"), strings.Join(b, "\n")
}

// setFileHashes sets c.FileHashBefore and c.FileHashAfter, the hashes of the whole file before and after the call c. It
// does nothing unless c wrote a single file. A hash of a text that is not known stays "".
//
// The text before the call is o.OriginalFileText, which Claude Code reports for an edit. The text after the call is in
// args if the call writes a whole file. For an edit, it is computed from the original text. White space at the file's
// beginning and end is ignored.
func setFileHashes(c *session.ToolCall, args *toolInput, o CallOutcome, clean func(string) string) {
	if len(c.WrittenFiles) != 1 {
		return
	}
	digest := func(text string) string { return hashText(strings.TrimSpace(clean(text))) }
	before, after := args.OldString+args.OldStringCamel+args.OldStr, args.NewString+args.NewStringCamel+args.NewStr
	if o.OriginalFileText != nil {
		c.FileHashBefore = digest(*o.OriginalFileText)
	}
	switch {
	case args.Content != nil:
		c.FileHashAfter = digest(*args.Content)
	case args.FileText != nil:
		c.FileHashAfter = digest(*args.FileText)
	case o.OriginalFileText == nil || before == "" || !strings.Contains(*o.OriginalFileText, before):
	case args.ReplaceAll:
		c.FileHashAfter = digest(strings.ReplaceAll(*o.OriginalFileText, before, after))
	default:
		c.FileHashAfter = digest(strings.Replace(*o.OriginalFileText, before, after, 1))
	}
}

func hashText(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])[:session.TextHashBytes]
}
