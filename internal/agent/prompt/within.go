// This file cuts a context to a number of bytes, for readers with such a limit.

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
	// smallPart is the size, in bytes, up to which a pinned part is included completely if there is
	// room.
	smallPart = 1500
	// cutMark is the last line of a shortened part.
	cutMark = "\n[… cut here]"
	// maxNamed is the maximum number of parts that the last line names.
	maxNamed = 3
)

// WithFrame returns a copy of the part with a text that can be cut. before and after, for example a
// block's tags, are never cut. Only body is cut.
func (p Part) WithFrame(before, body, after string) Part {
	p.Text = before + body + after
	p.before = before
	p.after = after
	p.isFramed = true
	p.Short = func(tokens int) string {
		for limit := 4 * tokens; limit > 0; limit = limit * 7 / 8 {
			if s := p.cutFramed(limit); EstimateTokens(s) <= tokens {
				return s
			}
		}
		return ""
	}
	return p
}

// cutFramed returns a framed part in at most limit bytes, or "" if nothing of the body fits.
func (p Part) cutFramed(limit int) string {
	body := p.Text[len(p.before) : len(p.Text)-len(p.after)]
	room := limit - len(p.before) - len(p.after) - len(cutMark)
	if len(body) <= room+len(cutMark) {
		return p.Text
	}
	body = cutAtParagraph(body, room)
	if strings.TrimSpace(body) == "" {
		return ""
	}
	return p.before + body + cutMark + p.after
}

// cutAtParagraph returns the beginning of s in at most limit bytes. It ends at a paragraph's
// end if one is in the second half, and otherwise at the end of a line, a word or a character.
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

// TextWithin returns the text in at most limit bytes. If the text is too long, the pinned parts
// are added first. Small pinned parts are complete. Large pinned parts are cut at a paragraph's
// end and share the room. The remaining room is used for all further parts, in order. The last
// line names the parts that were cut and ends with advice, a sentence that states where the
// complete text is.
func (c Context) TextWithin(limit int, advice string) string {
	if text := c.Text(); len(text) <= limit {
		return text
	}
	w := &limitedText{parts: c.Parts, texts: make([]string, len(c.Parts))}
	w.room = limit - len(w.lastLine(advice, c.Parts)) - 20 // room for the number of parts in the last line
	w.addPinned()
	w.addOthers()
	var cut []Part
	for i, p := range c.Parts {
		if w.texts[i] != p.Text {
			cut = append(cut, p)
		}
	}
	text := strings.Join(w.texts, "") + w.lastLine(advice, cut)
	if len(text) > limit {
		return ""
	}
	return text
}

// limitedText is the state of TextWithin.
type limitedText struct {
	parts []Part
	texts []string // by part ("" if it is left out)
	room  int      // in bytes
}

// addPinned adds the pinned parts, small parts first. Each part has an equal share of the
// remaining room, so that room that small parts do not need is available to larger parts.
func (w *limitedText) addPinned() {
	var pinned []int
	for i, p := range w.parts {
		if p.Pinned {
			pinned = append(pinned, i)
		}
	}
	slices.SortStableFunc(pinned, func(i, j int) int { return len(w.parts[i].Text) - len(w.parts[j].Text) })
	for n, i := range pinned {
		share := max(w.room/(len(pinned)-n), min(w.room, smallPart))
		w.add(i, share)
	}
}

// addOthers adds the parts that are not pinned if they fit. The first part that does not fit is
// shortened.
func (w *limitedText) addOthers() {
	hasShort := false
	for i, p := range w.parts {
		switch {
		case p.Pinned:
		case len(p.Text) <= w.room:
			w.add(i, w.room)
		case !hasShort:
			w.add(i, w.room)
			hasShort = w.texts[i] != ""
		}
	}
}

// add adds a part, cut to limit bytes.
func (w *limitedText) add(i, limit int) {
	w.texts[i] = w.parts[i].withinBytes(limit)
	w.room -= len(w.texts[i])
}

// withinBytes returns the part's text in at most limit bytes, or "" if that is impossible.
func (p Part) withinBytes(limit int) string {
	if len(p.Text) <= limit {
		return p.Text
	}
	if p.Short != nil && !p.isFramed {
		for tokens := limit / 3; tokens > 0; tokens = tokens * 3 / 4 {
			if s := p.Short(tokens); len(s) <= limit {
				return s
			}
		}
		return ""
	}
	return p.cutFramed(limit)
}

// lastLine returns the line that names the parts that were cut.
func (w *limitedText) lastLine(rest string, cut []Part) string {
	var names []string
	for _, p := range cut {
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
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return "\n\n(Cut to fit: " + strings.Join(names, ", ") + ". " + rest + ")\n"
}
