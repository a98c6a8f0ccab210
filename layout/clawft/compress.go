// This file shortens MEMORY.md to a budget of tokens.

package clawft

import (
	"context"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
)

// shortenedTextMark is appended to a paragraph or list item of MEMORY.md that was shortened.
const shortenedTextMark = " […]"

// compressText shortens a text until it fits the budget. movedTexts contains the removed texts, which the caller must
// append to HISTORY.md. If the text cannot be made to fit, ok is false and shortened is the shortest text that is
// possible. If ctx is done, the result must not be used.
func compressText(
	ctx context.Context,
	text string,
	tokenBudget int,
) (shortened string, movedTexts []textMovedToHistory, steps []layout.Step, ok bool) {
	fits := func(s string) bool { return prompt.EstimateTokens(injectedMemoryText(s)) <= tokenBudget }
	if fits(text) {
		return text, nil, nil, true
	}
	c := compressor{text: text, initialUnits: splitMarkdownUnits(text), shortTextByUnitIndex: map[int]string{}}
	movedTexts, steps, err := markRepeatedUnits(ctx, c.initialUnits)
	c.planShorteningActions()
	n := sort.Search(len(c.actions), func(n int) bool { s, _ := c.applyShorteningActions(n); return fits(s) })
	// The text should fit after n actions. Check this, because an action may also make the text longer, and apply
	// further actions if necessary.
	shortened, units := c.applyShorteningActions(n)
	for ; n < len(c.actions) && !fits(shortened); n++ {
		shortened, units = c.applyShorteningActions(n + 1)
	}
	if !fits(shortened) {
		return shortened, nil, nil, false
	}
	moves, moveSteps := c.movedTextsAndSteps(units)
	return shortened, append(movedTexts, moves...), append(steps, moveSteps...), err == nil
}

// compressor shortens the text of MEMORY.md by a list of actions. Each action shortens one fact or moves it to
// HISTORY.md.
type compressor struct {
	text         string
	initialUnits []markdownUnit // the parts of MEMORY.md, after repeated facts were marked as removed
	actions      []factShorteningAction
	// shortened text of each piece of MEMORY.md that can be shortened, by the index of the piece in initialUnits
	shortTextByUnitIndex map[int]string
}

// factShorteningAction shortens a unit (a piece of MEMORY.md, such as a paragraph or a list item) or moves the unit to
// HISTORY.md.
type factShorteningAction struct {
	unitIndex      int
	movesToHistory bool
}

// planShorteningActions sets c.actions to the list of actions that can make the text of MEMORY.md shorter, in the order
// in which they are applied. Facts are first shortened in place, and then moved to HISTORY.md. Facts with the label
// tag:keep are left out.
func (c *compressor) planShorteningActions() {
	for _, move := range []bool{false, true} {
		for i := range c.initialUnits {
			u := &c.initialUnits[i]
			mayGo := u.isRemovableFact() && !u.isRemoved && !u.hasKeepTag()
			if !mayGo {
				continue
			}
			if !move {
				c.shortTextByUnitIndex[i] = shortenParagraph(u)
				if c.shortTextByUnitIndex[i] == "" {
					continue
				}
			}
			c.actions = append(c.actions, factShorteningAction{i, move})
		}
	}
}

// applyShorteningActions applies the first actionCount actions in c.actions to the original text of MEMORY.md. Headings
// without remaining text are removed. It returns the new text and its units.
func (c *compressor) applyShorteningActions(actionCount int) (string, []markdownUnit) {
	units := append([]markdownUnit(nil), c.initialUnits...)
	for _, a := range c.actions[:actionCount] {
		if a.movesToHistory {
			units[a.unitIndex].isRemoved = true
		} else {
			units[a.unitIndex].replacementText = c.shortTextByUnitIndex[a.unitIndex]
		}
	}
	removeEmptyHeadings(units)
	return joinMarkdownUnits(c.text, units), units
}

// movedTextsAndSteps returns the complete text of each fact that was moved or shortened, which must be added to
// HISTORY.md. It also returns a step for the report for each of these facts. units is a result of
// applyShorteningActions.
func (c *compressor) movedTextsAndSteps(units []markdownUnit) (movedTexts []textMovedToHistory, steps []layout.Step) {
	for i := range units {
		u := &units[i]
		switch {
		case c.initialUnits[i].isRemoved || !u.isRemovableFact():
		case u.isRemoved:
			m := textMovedToHistory{headingsAbove: u.headingPath, text: u.sourceText}
			if last := currentComment(u); last != nil {
				whole := *u
				whole.replacementText = ""
				m.textWithComment, m.entryName = whole.formatUnit(c.text, lineEnding(c.text)), last.Name
			}
			movedTexts = append(movedTexts, m)
			steps = append(steps, layout.Step{Did: "move", Text: u.textWithoutListMarker(), Why: "over the budget"})
		case u.replacementText != "":
			movedTexts = append(movedTexts, textMovedToHistory{headingsAbove: u.headingPath, text: u.sourceText})
			steps = append(
				steps,
				layout.Step{
					Did:  "shorten",
					Text: u.textWithoutListMarker(),
					Kept: strings.TrimSpace(u.replacementText),
					Why:  "over the budget",
				},
			)
		}
	}
	return movedTexts, steps
}

// shortenParagraph returns the first sentence of a paragraph, followed by shortenedTextMark. If no complete sentence is
// found, it uses the text before the first empty line. It returns "" in these cases:
//   - No text would be left out.
//   - The result would save less than a third of the tokens.
//   - The unit is a list item, a code block or a table.
func shortenParagraph(u *markdownUnit) string {
	isCode := strings.Contains(u.sourceText, "```") || strings.HasPrefix(u.sourceText, "    ")
	isTable := strings.HasPrefix(u.sourceText, "|")
	if isCode || isTable {
		return ""
	}
	if u.kind == markdownListItem {
		return ""
	}
	text := strings.ReplaceAll(u.sourceText, "\r\n", "\n")
	first, rest, _ := strings.Cut(text, "\n\n")
	if s := firstSentence(first); s != "" {
		first, rest = s, "rest"
	}
	first = strings.TrimRight(first, " \t\n")
	if first == "" || isBlank(rest) {
		return ""
	}
	short := first + shortenedTextMark
	if parseEntryComment(firstLine(short)) != nil || 3*prompt.EstimateTokens(short) > 2*prompt.EstimateTokens(text) {
		return ""
	}
	return short
}

// abbreviations are words whose period does not end a sentence.
var abbreviations = []string{"mr", "mrs", "ms", "dr", "prof", "st", "no", "vs", "etc", "e.g", "i.e", "cf", "approx",
	"bzw", "usw", "ca"}

// firstSentence returns the first sentence of a text. It returns "" if no text follows the first sentence, or if this
// sentence does not end within about 1,000 bytes.
//
// A sentence ends with a full stop, an exclamation mark or a question mark. White space must follow, and then a word
// that does not begin with a lower-case letter. The sentence must have at least three words, and must not end with an
// abbreviation. A sentence of at least ten characters can also end with a Chinese or Japanese mark.
func firstSentence(s string) string {
	for i, r := range s {
		if i > 1000 {
			break
		}
		end := i + utf8.RuneLen(r)
		rest := strings.TrimLeftFunc(s[end:], unicode.IsSpace)
		next, _ := utf8.DecodeRuneInString(rest)
		switch r {
		case '。', '！', '？':
			if rest != "" && utf8.RuneCountInString(s[:end]) >= 10 {
				return s[:end]
			}
		case '.', '!', '?':
			words := strings.Fields(s[:i])
			isLast := rest == "" || len(rest) == len(s[end:])
			isShort := unicode.IsLower(next) || len(words) < 3
			if isLast || isShort {
				continue
			}
			if r == '.' && isAbbreviation(words[len(words)-1]) {
				continue
			}
			return s[:end]
		}
	}
	return ""
}

// isAbbreviation reports whether a word before a full stop is a single letter or is listed in abbreviations.
func isAbbreviation(word string) bool {
	word = strings.ToLower(strings.TrimLeft(word, "(\"'"))
	return utf8.RuneCountInString(word) == 1 || slices.Contains(abbreviations, word)
}

// injectedMemoryText returns the text that the model receives about a memory file. The argument fileText is the text of
// MEMORY.md.
func injectedMemoryText(fileText string) string {
	fileText = strings.TrimPrefix(fileText, "\ufeff")
	if strings.TrimSpace(fileText) == "" {
		return ""
	}
	return "\n\n## Memory\n\n" + fileText
}
