// This file implements token budgets. An answer is cut so that its text fits the budget, and then
// states where the next page begins.

package verb

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Default budgets of answers, in tokens. The budget for recall has room for five entries of a
// few paragraphs each. Clients cut or hide results that are longer than a page.
const (
	defaultMaxTokens = 2000
	pageTokens       = 4000
)

// noteTokens is the part of a budget reserved for a note about cuts.
const noteTokens = 30

// tokenBudget returns the maximum number of tokens in an answer. If the caller sets no limit, the result is
// defaultTokens, or unlimited for doors with a reader who can scroll.
func (w *Workspace) tokenBudget(requested *int, defaultTokens int) (int, error) {
	switch {
	case requested != nil && *requested < 1:
		return 0, InvalidValue(
			"max_tokens",
			strconv.Itoa(*requested),
			fmt.Sprintf("leaves room for nothing; give 1 or more, or leave it out for %d", defaultTokens),
		)
	case requested != nil:
		return *requested, nil
	case w.Unbounded:
		return math.MaxInt, nil
	}
	return defaultTokens, nil
}

// PageBounds returns the offset of a page and its budget.
func (w *Workspace) PageBounds(offset, maxTokens *int) (firstByte, tokenLimit int, err error) {
	if offset != nil {
		firstByte = *offset
	}
	tokenLimit, err = w.tokenBudget(maxTokens, pageTokens)
	if firstByte < 0 {
		err = InvalidValue("offset", strconv.Itoa(firstByte), "is less than 0")
	}
	return firstByte, tokenLimit, err
}

// CountFitting returns how many items fit a budget of maxTokens tokens, with spentTokens tokens already used. Items
// are described by describe.
func CountFitting[T any](items []T, spentTokens, maxTokens int, describe func(T) report.Record) int {
	if maxTokens == math.MaxInt {
		return len(items)
	}
	for i, it := range items {
		var b strings.Builder
		prompt.WriteSection(&b, describe(it))
		spentTokens += prompt.EstimateTokens(b.String())
		room := maxTokens
		if i < len(items)-1 {
			room -= noteTokens // if items follow, the page needs a note about them
		}
		if spentTokens > room {
			return i
		}
	}
	return len(items)
}

// PageCutNote returns a note that the answer has only shownCount of all items, and where the next page begins. total
// is the number of all items.
func PageCutNote(total, shownCount, offset, maxTokens int, singular, plural string) Note {
	if shownCount == 0 {
		return Notef("no %s fits into %s %d; raise it", singular, ParamRef("max_tokens"), maxTokens)
	}
	return Notef("%s did not fit into %s %d; %s", text.FormatCount(total-shownCount, "more "+singular, "more "+
		plural), ParamRef("max_tokens"), maxTokens, NextPageRef(offset+shownCount))
}

// listedEntryText returns a hit or a listed entry as text.
func listedEntryText(e Entry) string {
	var b strings.Builder
	prompt.WriteSection(&b, listedEntryRecord(e))
	return b.String()
}

// cutToBudget shortens the answer until it has at most maxTokens tokens. It first includes hits with their snippets,
// then replaces snippets by whole contents, the best hits first, and finally adds the turns around these hits.
// contents has the content of each hit. If keepAllHits is set, no hit is left out, even if the answer is too large.
func (out *RecallOut) cutToBudget(contents []string, maxTokens int, keepAllHits bool) {
	all := len(out.Hits)
	notes := out.Notes
	hits := out.Hits
	out.chooseContents(contents, maxTokens, keepAllHits)
	tell := func() { out.addBudgetNotes(notes, all, maxTokens) }
	for tell(); !keepAllHits && len(out.Hits) > 0 && out.TokensUsed > maxTokens; tell() {
		if i := lastWithTurns(out.Hits); i >= 0 {
			out.Hits[i].TurnsBefore, out.Hits[i].TurnsAfter = nil, nil
		} else if last := &out.Hits[len(out.Hits)-1]; last.Content != nil && len(*last.Content) > snippetWidth {
			last.Content = nil
		} else {
			out.Hits = out.Hits[:len(out.Hits)-1]
		}
	}
	if all > 0 && len(out.Hits) == 0 {
		out.Notes = notes
		out.EmptyReasons = noneFitsNotes(prompt.EstimateTokens(prompt.ReporterText(out)), all, maxTokens, hits[0])
		out.TokensUsed = prompt.EstimateTokens(prompt.ReporterText(out))
	}
}

// noneFitsNotes returns a note that the budget is too small for the first entry. The note has the
// number of tokens that the entry needs.
func noneFitsNotes(spentTokens, total, maxTokens int, first Entry) []Note {
	return []Note{Notef("%s found, and none fits into %s %d; the first needs about %d",
		text.FormatCount(total, "entry was", "entries were"), ParamRef("max_tokens"), maxTokens,
		spentTokens+prompt.EstimateTokens(listedEntryText(first))+3*noteTokens)}
}

// chooseContents chooses the hits and contents that fit the budget, for cutToBudget. It adds no notes about cuts.
func (out *RecallOut) chooseContents(contents []string, maxTokens int, keepAllHits bool) {
	frame := *out
	frame.Hits = nil
	all, spent := len(out.Hits), prompt.EstimateTokens(prompt.ReporterText(frame))+noteTokens
	heads := make([]int, 0, all)
	for i, h := range out.Hits {
		n := prompt.EstimateTokens(listedEntryText(h)) + 2 // two tokens for the number of the hit
		needed := spent + n
		if i == all-1 {
			needed -= noteTokens // no hit follows, so no note about further hits is needed
		}
		if !keepAllHits && needed > maxTokens {
			break
		}
		heads, spent = append(heads, n), spent+n
	}
	out.Hits = out.Hits[:len(heads)]
	for i := range out.Hits {
		// A text has at least as many tokens as a hundredth of its bytes.
		if len(contents[i]) > snippetWidth && len(contents[i])/100 > maxTokens-spent {
			continue
		}
		whole := out.Hits[i]
		whole.Content = &contents[i]
		if n := prompt.EstimateTokens(listedEntryText(whole)) + 2; n <= heads[i] || spent-heads[i]+n <= maxTokens {
			out.Hits[i], spent = whole, spent-heads[i]+n
		}
	}
	out.addTurns(maxTokens - spent)
}

// addTurns adds turns around the hits that are shown with their content, as far as there is room.
// The best hits come first, and for each hit the nearest turns. No turn in between is skipped.
func (out *RecallOut) addTurns(room int) {
	for i := range out.Hits {
		h := &out.Hits[i]
		sides := [2]*[]Turn{&h.TurnsBefore, &h.TurnsAfter}
		for step := 0; h.Content != nil && step < max(len(h.availableTurns[0]), len(h.availableTurns[1])); step++ {
			for side, turns := range h.availableTurns {
				isSkipped := len(*sides[side]) < step // a nearer turn did not fit
				if step >= len(turns) || isSkipped {
					continue
				}
				if len(turns[step].Content)/100 > room {
					continue
				}
				cost := prompt.EstimateTokens(turns[step].Content) + 1
				if step == 0 {
					cost += prompt.EstimateTokens(prompt.Fence("before", ""))
				}
				if cost <= room {
					*sides[side], room = append(*sides[side], turns[step]), room-cost
				}
			}
		}
		slices.Reverse(h.TurnsBefore)
	}
}

// lastWithTurns returns the index of the last hit that is shown with turns around it, or -1.
func lastWithTurns(hits []Entry) int {
	for i, h := range slices.Backward(hits) {
		if len(h.TurnsBefore)+len(h.TurnsAfter) > 0 {
			return i
		}
	}
	return -1
}

// addBudgetNotes adds notes about parts that did not fit the budget, and counts the answer's
// tokens.
func (out *RecallOut) addBudgetNotes(notes []Note, all, maxTokens int) {
	out.Notes = notes[:len(notes):len(notes)]
	short, gone := 0, all-len(out.Hits)
	for _, h := range out.Hits {
		short += map[bool]int{true: 1}[h.Content == nil]
	}
	out.ContentsLeftOut, out.HasMore = short+gone, out.HasMore || gone > 0
	if short > 0 {
		out.Notes = append(
			out.Notes,
			Notef(
				"%s shown by a snippet, as %s is %d; get with the name gives it whole",
				countWithIs(short, "content"),
				ParamRef("max_tokens"),
				maxTokens,
			),
		)
	}
	if gone > 0 {
		out.Notes = append(
			out.Notes,
			Notef(
				"%s not shown; raise %s, now %d, or add words or a filter",
				countWithIs(gone, "more hit"),
				ParamRef("max_tokens"),
				maxTokens,
			),
		)
	}
	out.TokensUsed = maxTokens // the number with the most digits
	out.TokensUsed = prompt.EstimateTokens(prompt.ReporterText(out))
}

// cutToBudget cuts the content to a page that begins at offset, so that the answer fits the budget.
func (out *GetOut) cutToBudget(offset, maxTokens int) error {
	content := *out.Content
	if offset == 0 && maxTokens == math.MaxInt {
		return nil
	}
	if offset > 0 && offset >= len(content) {
		return InvalidValue(
			"offset",
			strconv.Itoa(offset),
			fmt.Sprintf("is past the content, which has %d bytes", len(content)),
		)
	}
	for offset > 0 && !utf8.RuneStart(content[offset]) {
		offset--
	}
	rest := content[offset:]
	out.Content, out.Offset = &rest, offset
	if offset > 0 {
		out.Size = len(content)
	}
	if maxTokens == math.MaxInt || out.fitsBudget(maxTokens) {
		return nil
	}
	out.Size, out.NextOffset = len(content), len(content)
	return out.cutContent(rest, maxTokens)
}

// fitsBudget reports whether the answer has at most maxTokens. A long content is not counted, because it has at least
// as many tokens as a hundredth of its bytes.
func (out *GetOut) fitsBudget(maxTokens int) bool {
	if len(*out.Content)/100 > maxTokens {
		return false
	}
	return prompt.EstimateTokens(prompt.ReporterText(out)) <= maxTokens
}

// cutContent sets the content to the beginning of text, as long as the budget allows. It cuts after a
// line if the result is not too short.
func (out *GetOut) cutContent(text string, maxTokens int) error {
	empty, notes := "", out.Notes
	out.Content = &empty
	out.addCutNote(notes)
	room := maxTokens - prompt.EstimateTokens(prompt.ReporterText(out))
	for ; room > 0; room -= room/16 + 1 {
		page := clipTokens(text, room)
		if i := strings.LastIndexByte(page, '\n') + 1; i > len(page)/2 {
			page = page[:i]
		}
		out.Content, out.NextOffset = &page, out.Offset+len(page)
		out.addCutNote(notes)
		if page != "" && prompt.EstimateTokens(prompt.ReporterText(out)) <= maxTokens {
			return nil
		}
	}
	return InvalidValue("max_tokens", strconv.Itoa(maxTokens), "has no room for any of the content; give 200 or more")
}

// addCutNote adds a note about the part of the content in the answer.
func (out *GetOut) addCutNote(notes []Note) {
	out.Notes = append(notes[:len(notes):len(notes)], out.Page.rangeNote())
}

// clipTokens returns the longest beginning of s with at most maxTokens tokens.
func clipTokens(s string, maxTokens int) string {
	s = s[:min(len(s), maxTokens*100)]
	low, high := 0, len(s)
	for low < high {
		mid := (low + high + 1) / 2
		if text.EstimateTokens(s[:mid]) <= maxTokens {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return text.TruncateBytes(s, low)
}

// rangeNote returns a note with the byte range of this page and the offset at which the next page begins.
func (p Page) rangeNote() Note {
	return Notef("bytes %d to %d of %d; %s", p.Offset, p.NextOffset, p.Size, NextPageRef(p.NextOffset))
}

// ContinuationLine returns the last line of an answer if the text continues on another page.
func (p Page) ContinuationLine() string {
	if p.NextOffset == 0 {
		return ""
	}
	return "note: " + p.rangeNote().String() + ", all else as in this call\n"
}

// PageRoom returns how many bytes of text fit on a page. restSize is the size in bytes of the other parts of the
// answer. The result is at least half of w.Page. It is math.MaxInt if pages are unlimited (w.Page is 0).
func (w *Workspace) PageRoom(restSize int) int {
	if w.Page == 0 {
		return math.MaxInt
	}
	const notes = 200 // bytes for the notes about the page and for the end of a fence
	return max(w.Page-restSize-notes, w.Page/2)
}

func PartTexts(c prompt.Context) (texts []string) {
	for _, p := range c.Parts {
		texts = append(texts, p.Text)
	}
	return texts
}

// CutText joins the parts to a text and returns one page of it, and sets the offsets in p. The page begins at byte
// *offset, or at p.Offset if offset is nil, and has about maxBytes bytes. It ends between two parts if possible. A
// part that is longer than a page is split. If a split is inside a fence, the page closes the fence and the next page
// opens it again. If the offset is not in the text, the error matches [oxbow.ErrInvalid].
func (p *Page) CutText(parts []string, offset *int, maxBytes int) (string, error) {
	all := strings.Join(parts, "")
	if offset != nil {
		p.Offset = *offset
	}
	switch {
	case p.Offset == 0 && len(all) <= maxBytes:
		return all, nil
	case p.Offset < 0 || p.Offset >= len(all):
		return "", InvalidValue(
			"offset",
			strconv.Itoa(p.Offset),
			fmt.Sprintf("is not in the text, which has %d bytes; begin again without it", len(all)),
		)
	}
	p.Offset = len(text.TruncateBytes(all, p.Offset))
	from := p.Offset
	for from >= len(parts[0]) {
		from, parts = from-len(parts[0]), parts[1:]
	}
	page, end := "", p.Offset
	for _, s := range parts {
		fence := openFenceLine(s, from)
		here := s[from:]
		room := maxBytes - len(page)
		if len(fence)+len(here) <= room {
			page = page + fence + here
			end = end + len(here)
			from = 0
			continue
		}
		mayWait := len(s) <= maxBytes || room < maxBytes/2
		if page != "" && mayWait {
			break
		}
		here = text.TruncateBytes(here, max(room-len(fence), room/2))
		if i := strings.LastIndexByte(here, '\n') + 1; i > len(here)/2 {
			here = here[:i]
		}
		page, end = page+fence+here, end+len(here)
		if open := openFenceLine(s, from+len(here)); open != "" {
			page = strings.TrimSuffix(page, "\n") + "\n" + open[:countBackticks(open)] + "\n"
		}
		break
	}
	p.Size = len(all)
	if end < len(all) {
		p.NextOffset = end
	}
	return page, nil
}

// countBackticks returns the number of backticks that a line begins with.
func countBackticks(line string) int { return len(line) - len(strings.TrimLeft(line, "`")) }

// openFenceLine returns the line that opened the fence around byte n of a text, or "" outside of
// fences.
func openFenceLine(s string, n int) (open string) {
	if n > 0 && s[n-1] != '\n' { // n is inside a line
		n += strings.IndexByte(s[n:]+"\n", '\n') + 1
	}
	for line := range strings.Lines(s[:min(n, len(s))]) {
		switch n := countBackticks(line); {
		case n < 3:
		case open == "":
			open = line
		case n >= countBackticks(open) && strings.TrimSpace(line[n:]) == "":
			open = ""
		}
	}
	return open
}

// cutToBudget cuts the list, which begins at offset, to a budget. positions has the offsets of the entries
// on the page, followed by the last entry's end.
func (out *ListOut) cutToBudget(offset, maxTokens int, positions []int) {
	n := CountFitting(
		out.Entries,
		prompt.EstimateTokens(prompt.ReporterText(ListOut{Notes: out.Notes})),
		maxTokens,
		listedEntryRecord,
	)
	next := offset + positions[n]
	if all := len(out.Entries); n == 0 && all > 0 {
		out.EmptyReasons = noneFitsNotes(0, out.Total-offset, maxTokens, out.Entries[0])
	} else if n < all {
		out.Notes = append(out.Notes, PageCutNote(all, n, next-n, maxTokens, "entry", "entries"))
	} else if next < out.Total {
		out.Notes = append(out.Notes, Notef("%d more; %s", out.Total-next, NextPageRef(next)))
	}
	out.Entries = out.Entries[:n]
	if next < out.Total {
		out.NextOffset = next
	}
}

// cutToBudget cuts the changes to a budget. The first offset changes were left out before.
func (out *HistoryOut) cutToBudget(offset, maxTokens int) {
	all := len(out.Changes)
	if all == 0 {
		why := PlainNote("nothing was changed yet: the memory is new")
		if offset > 0 {
			why = Notef("%s %d is past the last change", ParamRef("offset"), offset)
		}
		out.Notes = append(out.Notes, why)
		return
	}
	frame := HistoryOut{Name: out.Name, Notes: out.Notes}
	n := CountFitting(out.Changes, prompt.EstimateTokens(prompt.ReporterText(frame)), maxTokens, Change.record)
	if n < all {
		out.Notes = append(out.Notes, PageCutNote(all, n, offset, maxTokens, "change", "changes"))
	} else if out.HasMore {
		out.Notes = append(out.Notes, Notef("there are older changes; %s", NextPageRef(offset+n)))
	}
	out.Changes = out.Changes[:n]
	if n < all || out.HasMore {
		out.HasMore, out.NextOffset = true, offset+n
	}
}
