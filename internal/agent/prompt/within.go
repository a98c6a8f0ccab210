// This file cuts a context to a number of bytes, for clients that show only so many bytes.

package prompt

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxSmallContextPartBytes is the maximum size, in bytes, of a context part that TextWithin includes completely if
	// the part is pinned and there is room. Larger pinned parts share the room and may be shortened.
	maxSmallContextPartBytes = 1500
	// cutMark is the line that is written at the place where the end of a text was cut off.
	cutMark = "\n[… cut here]"
	// maxCutPartNames is the maximum number of shortened or omitted context parts that are named in the last line of
	// the text for the model. The line only counts the others.
	maxCutPartNames = 3
)

// WithFrame returns a copy of the part with a new text: the strings before, body and after, joined together. If the
// part is cut, only the string body becomes shorter. The strings before and after stay complete. They are, for example,
// the tags around a block.
func (p Part) WithFrame(before, body, after string) Part {
	p.Text = before + body + after
	p.textBeforeBody = before
	p.textAfterBody = after
	p.hasTextAroundBody = true
	p.Shorten = func(tokens int) string {
		for limit := 4 * tokens; limit > 0; limit = limit * 7 / 8 {
			if s := p.shortenBody(limit); EstimateTokens(s) <= tokens {
				return s
			}
		}
		return ""
	}
	return p
}

// shortenBody returns the part's text with at most maxBytes bytes. It shortens only the body of the part. The prefix
// and the suffix around the body stay complete. It returns "" if there is no room for a body.
func (p Part) shortenBody(maxBytes int) string {
	body := p.Text[len(p.textBeforeBody) : len(p.Text)-len(p.textAfterBody)]
	room := maxBytes - len(p.textBeforeBody) - len(p.textAfterBody) - len(cutMark)
	if len(body) <= room+len(cutMark) {
		return p.Text
	}
	body = cutAtParagraph(body, room)
	if strings.TrimSpace(body) == "" {
		return ""
	}
	return p.textBeforeBody + body + cutMark + p.textAfterBody
}

// cutAtParagraph cuts s to at most limit bytes. If a paragraph ends in the second half of the allowed bytes, s is cut
// there. Otherwise s is cut at the end of a line, a word or a character.
func cutAtParagraph(s string, limit int) string {
	if limit <= 0 {
		return ""
	}
	if len(s) <= limit {
		return s
	}
	for _, sep := range []string{"\r\n\r\n", "\n\n", "\n", " "} {
		if i := strings.LastIndex(s[:min(len(s), limit+len(sep))], sep); i > limit/2 {
			return s[:i]
		}
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// TextWithin returns the context's text, cut to at most maxBytes bytes. If the text is too long, the pinned parts are
// added first. Small pinned parts are added completely. Large pinned parts share the room and are cut at a paragraph's
// end. Then the other parts fill the remaining room in their order. The last line names the parts that were cut. It
// ends with the string advice, a sentence that tells the reader where the complete text is. TextWithin returns "" if
// even the cut text is longer than maxBytes.
func (c Context) TextWithin(maxBytes int, advice string) string {
	if text := c.Text(); len(text) <= maxBytes {
		return text
	}
	w := &contextPartLimiter{parts: c.Parts, partTexts: make([]string, len(c.Parts))}
	// Reserve room for the last line, which names the context parts that were cut. The line can become up to 20 bytes
	// longer, because the number of cut parts is not known yet.
	w.remainingBytes = maxBytes - len(w.describeCutContextParts(advice, c.Parts)) - 20
	w.addPinnedContextParts()
	w.addUnpinnedContextParts()
	var cut []Part
	for i, p := range c.Parts {
		if w.partTexts[i] != p.Text {
			cut = append(cut, p)
		}
	}
	text := strings.Join(w.partTexts, "") + w.describeCutContextParts(advice, cut)
	if len(text) > maxBytes {
		return ""
	}
	return text
}

// contextPartLimiter chooses and shortens the parts of a context so that their text fits into a limited number of
// bytes. It contains the state during one call of Context.TextWithin.
type contextPartLimiter struct {
	parts []Part
	// text that is shown for the part with the same index in parts ("" if the part is left out)
	partTexts      []string
	remainingBytes int // number of bytes that may still be added
}

// addPinnedContextParts adds the context's parts that must always be included, the smallest first. Each part gets an
// equal share of the remaining bytes, but at least maxSmallContextPartBytes if as many bytes remain. If a small part
// does not use its whole share, the unused bytes are shared by the larger parts.
func (w *contextPartLimiter) addPinnedContextParts() {
	var pinned []int
	for i, p := range w.parts {
		if p.IsPinned {
			pinned = append(pinned, i)
		}
	}
	slices.SortStableFunc(pinned, func(i, j int) int { return len(w.parts[i].Text) - len(w.parts[j].Text) })
	for n, i := range pinned {
		share := max(w.remainingBytes/(len(pinned)-n), min(w.remainingBytes, maxSmallContextPartBytes))
		w.addPart(i, share)
	}
}

// addUnpinnedContextParts adds the context parts that are not pinned, in their order. A part is added completely if it
// fits into w.remainingBytes. Only one larger part is added: the first one that can be shortened to fit. All other
// parts that are too large are skipped.
func (w *contextPartLimiter) addUnpinnedContextParts() {
	hasShort := false
	for i, p := range w.parts {
		switch {
		case p.IsPinned:
		case len(p.Text) <= w.remainingBytes:
			w.addPart(i, w.remainingBytes)
		case !hasShort:
			w.addPart(i, w.remainingBytes)
			hasShort = w.partTexts[i] != ""
		}
	}
}

// addPart adds the text of parts[i] and reduces w.remainingBytes by the number of added bytes. A text with more than
// maxBytes bytes is shortened first.
func (w *contextPartLimiter) addPart(i, maxBytes int) {
	w.partTexts[i] = w.parts[i].cutToLimit(maxBytes)
	w.remainingBytes -= len(w.partTexts[i])
}

// cutToLimit returns the part's text, cut to at most limit bytes. It returns "" if no text fits.
func (p Part) cutToLimit(limit int) string {
	if len(p.Text) <= limit {
		return p.Text
	}
	if p.Shorten != nil && !p.hasTextAroundBody {
		for tokens := limit / 3; tokens > 0; tokens = tokens * 3 / 4 {
			if s := p.Shorten(tokens); len(s) <= limit {
				return s
			}
		}
		return ""
	}
	return p.shortenBody(limit)
}

// describeCutContextParts returns the last line of a shortened context. The line names the parts in the list cutParts,
// which were shortened or left out. It names at most maxCutPartNames parts and counts the remaining parts. The string
// advice is the last sentence of the line.
func (w *contextPartLimiter) describeCutContextParts(advice string, cutParts []Part) string {
	var names []string
	for _, p := range cutParts {
		name := p.Source
		if name == "" {
			name = p.Name
		}
		if r := []rune(filepath.ToSlash(name)); len(r) > 60 {
			name = "…" + string(r[len(r)-60:])
		}
		name = strconv.Quote(name)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more := len(names) - maxCutPartNames; more > 0 {
		names = append(names[:maxCutPartNames], fmt.Sprintf("%d more", more))
	}
	return "\n\n(Cut to fit: " + strings.Join(names, ", ") + ". " + advice + ")\n"
}
