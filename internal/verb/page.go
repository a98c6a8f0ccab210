// This file implements token budgets. An answer that is too long is cut, and a note says where the next page begins.

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

// Token limits of answers. defaultMaxTokens is the default limit for an answer of Recall. It is enough for five entries
// of a few paragraphs each. answerPageTokens is the default limit for a page of any other answer, because clients cut
// or hide longer answers.
const (
	defaultMaxTokens = 2000
	answerPageTokens = 4000
)

// reservedNoteTokens is the part of each budget that is reserved for a note about the omitted content.
const reservedNoteTokens = 30

// tokenBudget returns the maximum number of tokens in an answer: *requested or, if requested is nil, defaultTokens. If
// requested is nil and the reader can scroll through a long answer (w.Unbounded), the result is math.MaxInt, which
// means that there is no maximum. tokenBudget returns an error if *requested is less than 1.
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

// PageBounds returns the offset at which a page begins (0 if offset is nil), and the maximum number of tokens in the
// answer. It returns an error if the offset is negative or *maxTokens is less than 1.
func (w *Workspace) PageBounds(offset, maxTokens *int) (firstByte, tokenLimit int, err error) {
	if offset != nil {
		firstByte = *offset
	}
	tokenLimit, err = w.tokenBudget(maxTokens, answerPageTokens)
	if firstByte < 0 {
		err = InvalidValue("offset", strconv.Itoa(firstByte), "is less than 0")
	}
	return firstByte, tokenLimit, err
}

// CountFittingItems returns how many of the first items fit into a budget with maxTokens tokens if spentTokens are
// already used. The function describe returns the record of an item.
func CountFittingItems[T any](items []T, spentTokens, maxTokens int, describe func(T) report.Record) int {
	if maxTokens == math.MaxInt {
		return len(items)
	}
	for i, it := range items {
		var b strings.Builder
		prompt.WriteSection(&b, describe(it))
		spentTokens += prompt.EstimateTokens(b.String())
		room := maxTokens
		if i < len(items)-1 {
			room -= reservedNoteTokens // More items follow this page, so leave room for a note that says so.
		}
		if spentTokens > room {
			return i
		}
	}
	return len(items)
}

// TruncatedPageNote returns a note for an answer that contains only shownCount of total items. The note says how many
// more items did not fit into maxTokens, and where the next page begins. If shownCount is 0, the note says that
// maxTokens must be raised.
func TruncatedPageNote(total, shownCount, offset, maxTokens int, singular, plural string) Note {
	if shownCount == 0 {
		return Notef("no %s fits into %s %d; raise it", singular, ParamRef("max_tokens"), maxTokens)
	}
	return Notef("%s did not fit into %s %d; %s", text.FormatCount(total-shownCount, "more "+singular, "more "+
		plural), ParamRef("max_tokens"), maxTokens, NextPageRef(offset+shownCount))
}

// listedEntryText returns the text with which an answer shows a hit or a listed entry.
func listedEntryText(e Entry) string {
	var b strings.Builder
	prompt.WriteSection(&b, listedEntryRecord(e))
	return b.String()
}

// hitCost contains the costs of a hit in the text of an answer. Each part of a hit's text has only whole lines, so that
// the parts' costs can be added. Therefore each part is rendered and counted only once, however often the answer is
// cut.
type hitCost struct {
	head    text.TokenHundredths // everything except the texts below
	snippet text.TokenHundredths // the snippet, which is shown if the content is not
	content text.TokenHundredths // the content (0 if it was not counted)
	turns   text.TokenHundredths // the turns before and after the hit (0 if none is shown)
}

// costWithSnippet returns the cost of the hit if it is shown with a snippet and without turns.
func (c *hitCost) costWithSnippet() text.TokenHundredths { return c.head + c.snippet }

// costWithContent returns the cost of the hit if it is shown with its content and without turns.
func (c *hitCost) costWithContent() text.TokenHundredths { return c.head + c.content }

// costAsShown returns the number of tokens of the hit h in hundredths of a token. The hit is counted with its content
// if h.Content is set, and otherwise with its snippet. The turns before and after the hit are included.
func (c *hitCost) costAsShown(h *Entry) text.TokenHundredths {
	if h.Content != nil {
		return c.costWithContent() + c.turns
	}
	return c.costWithSnippet() + c.turns
}

// hitCostsWithSnippets returns the costs of the hits, in hundredths of a token. For each hit, it sets the fields head
// and snippet of the result: the cost of the hit without its snippet, and the cost of the snippet. It does not set the
// costs of contents and of the turns before and after the hit.
func hitCostsWithSnippets(hits []Entry) []hitCost {
	costs := make([]hitCost, len(hits))
	for i, h := range hits {
		if h.Snippet != "" {
			costs[i].snippet = snippetFence(h.Snippet).cost()
		}
		h.Snippet = ""
		h.Content = nil
		h.TurnsBefore = nil
		h.TurnsAfter = nil
		costs[i].head = text.TokenCost(listedEntryText(h))
	}
	return costs
}

// setTurnCost sets c.turns to the token cost of the turns before and after the hit h.
func (c *hitCost) setTurnCost(h *Entry) {
	c.turns = 0
	if len(h.TurnsBefore) > 0 {
		c.turns += turnsBeforeFence(h.TurnsBefore).cost()
	}
	if len(h.TurnsAfter) > 0 {
		c.turns += turnsAfterFence(h.TurnsAfter).cost()
	}
}

// cutToBudget shortens the answer out so that it has at most maxTokens tokens. It keeps as many hits with snippets as
// fit. With the remaining tokens, it replaces snippets by whole contents, beginning with the best hits. Then it adds
// the conversation's turns around a hit. The list contents has the content of each hit. If the answer is still too
// long, for example because of notes, cutToBudget removes turns, contents and hits again.
//
// If no hit fits, the answer lists no hits, and its field EmptyReasons says that the budget is too small. If
// keepAllHits is set, no hit is removed, even if the answer is too long.
func (out *RecallOut) cutToBudget(contents []string, maxTokens int, keepAllHits bool) {
	all := len(out.Hits)
	notes := out.Notes
	hits := out.Hits
	costs := hitCostsWithSnippets(hits)
	out.chooseHitsAndContents(contents, costs, maxTokens, keepAllHits)
	for i := range out.Hits {
		costs[i].setTurnCost(&out.Hits[i])
	}
	tell := func() { out.addBudgetNotes(notes, costs, all, maxTokens) }
	for tell(); !keepAllHits && len(out.Hits) > 0 && out.TokensUsed > maxTokens; tell() {
		if i := lastIndexWithTurns(out.Hits); i >= 0 {
			out.Hits[i].TurnsBefore, out.Hits[i].TurnsAfter = nil, nil
			costs[i].turns = 0
		} else if last := &out.Hits[len(out.Hits)-1]; last.Content != nil && len(*last.Content) > snippetWidth {
			last.Content = nil
		} else {
			out.Hits = out.Hits[:len(out.Hits)-1]
		}
	}
	if all > 0 && len(out.Hits) == 0 {
		out.Notes = notes
		out.EmptyReasons = budgetTooSmallNotes(
			prompt.EstimateTokens(prompt.ReporterText(out)),
			all,
			maxTokens,
			hits[0],
		)
		out.TokensUsed = prompt.EstimateTokens(prompt.ReporterText(out))
	}
}

// budgetTooSmallNotes returns a note which says that the budget is too small for the first entry, and how many tokens
// the entry needs.
func budgetTooSmallNotes(spentTokens, entryCount, maxTokens int, first Entry) []Note {
	return []Note{Notef("%s found, and none fits into %s %d; the first needs about %d",
		text.FormatCount(entryCount, "entry was", "entries were"), ParamRef("max_tokens"), maxTokens,
		spentTokens+prompt.EstimateTokens(listedEntryText(first))+3*reservedNoteTokens)}
}

// chooseHitsAndContents chooses the hits, and the hits for which the whole content is shown, so that the answer has at
// most maxTokens tokens. It removes all other hits, unless keepAllHits is set. It adds the sizes of the contents to the
// slice hitCosts, which has one element for each hit. It is a part of cutToBudget, and does not add notes to the
// answer.
func (out *RecallOut) chooseHitsAndContents(contents []string, hitCosts []hitCost, maxTokens int, keepAllHits bool) {
	frame := *out
	frame.Hits = nil
	all, spent := len(out.Hits), prompt.EstimateTokens(prompt.ReporterText(frame))+reservedNoteTokens
	heads := make([]int, 0, all)
	for i := range out.Hits {
		n := hitCosts[i].costWithSnippet().Tokens() + 2 // The number before the hit needs two tokens.
		needed := spent + n
		if i == all-1 {
			needed -= reservedNoteTokens // This is the last hit, so no note about further hits is needed.
		}
		if !keepAllHits && needed > maxTokens {
			break
		}
		heads, spent = append(heads, n), spent+n
	}
	out.Hits = out.Hits[:len(heads)]
	for i := range out.Hits {
		// Skip the content if even the smallest estimate, one token for every hundred bytes, exceeds the rest of the
		// budget. This is faster than an exact estimate.
		if len(contents[i]) > snippetWidth && len(contents[i])/100 > maxTokens-spent {
			continue
		}
		hitCosts[i].content = contentFence(contents[i]).cost()
		if n := hitCosts[i].costWithContent().Tokens() + 2; n <= heads[i] || spent-heads[i]+n <= maxTokens {
			out.Hits[i].Content, spent = &contents[i], spent-heads[i]+n
		}
	}
	out.addTurnsAroundHits(maxTokens - spent)
}

// addTurnsAroundHits adds the turns before and after each hit that is shown with its whole content, as long as the
// budget allows. The best hits come first. For each hit, the nearest turns come first. If a turn does not fit, the
// turns beyond it are not shown.
func (out *RecallOut) addTurnsAroundHits(maxTokens int) {
	for i := range out.Hits {
		h := &out.Hits[i]
		sides := [2]*[]Turn{&h.TurnsBefore, &h.TurnsAfter}
		for step := 0; h.Content != nil && step < max(len(h.turnsBeforeAndAfter[0]),
			len(h.turnsBeforeAndAfter[1])); step++ {
			for side, turns := range h.turnsBeforeAndAfter {
				// A turn that is nearer to the hit was left out on this side, so leave out all turns beyond it.
				isSkipped := len(*sides[side]) < step
				if step >= len(turns) || isSkipped {
					continue
				}
				if len(turns[step].Content)/100 > maxTokens {
					continue
				}
				cost := prompt.EstimateTokens(turns[step].Content) + 1
				if step == 0 {
					cost += prompt.EstimateTokens(turnsBeforeFence(nil).String())
				}
				if cost <= maxTokens {
					*sides[side], maxTokens = append(*sides[side], turns[step]), maxTokens-cost
				}
			}
		}
		slices.Reverse(h.TurnsBefore)
	}
}

// lastIndexWithTurns returns the index of the last hit that is shown with turns around it, or -1 without such a hit.
func lastIndexWithTurns(hits []Entry) int {
	for i, h := range slices.Backward(hits) {
		if len(h.TurnsBefore)+len(h.TurnsAfter) > 0 {
			return i
		}
	}
	return -1
}

// addBudgetNotes sets out.Notes to the list notes and further notes, which say what did not fit into the budget. It
// also sets out.TokensUsed to the number of tokens in the answer. The argument hitCosts contains the cost of each hit,
// and totalHitCount is the number of hits before the answer was shortened.
func (out *RecallOut) addBudgetNotes(notes []Note, hitCosts []hitCost, totalHitCount, maxTokens int) {
	out.Notes = notes[:len(notes):len(notes)]
	short, gone := 0, totalHitCount-len(out.Hits)
	for _, h := range out.Hits {
		short += map[bool]int{true: 1}[h.Content == nil]
	}
	out.ContentsLeftOut, out.HasMore = short+gone, out.HasMore || gone > 0
	if short > 0 {
		out.Notes = append(
			out.Notes,
			Notef(
				"%s shown by a snippet, as %s is %d; get with the name gives it whole",
				formatCountWithVerb(short, "content"),
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
				formatCountWithVerb(gone, "more hit"),
				ParamRef("max_tokens"),
				maxTokens,
			),
		)
	}
	// The text of the answer contains the number out.TokensUsed, so this number also needs tokens. While the tokens are
	// counted, use maxTokens in its place. The final number has at most as many digits as maxTokens. The exception is
	// an answer in which all hits are kept although they need more tokens.
	out.TokensUsed = maxTokens
	out.TokensUsed = out.tokenCost(hitCosts).Tokens()
}

// tokenCost returns the token cost of the answer's text, in hundredths of a token. The list costs contains the cost of
// each hit in out.Hits, in the same order. Therefore tokenCost does not format the hits again. It formats only the text
// around the hits.
func (out *RecallOut) tokenCost(costs []hitCost) text.TokenHundredths {
	frame := out.newReportWithHeadLine()
	out.addReasonsAndNotes(&frame)
	sum := text.TokenCost(prompt.ReportText(frame, nil))
	for i := range out.Hits {
		sum += text.BlankLineTokenCost + text.TokenCost(hitNumberPrefix(i)) + costs[i].costAsShown(&out.Hits[i])
	}
	return sum
}

// hitNumberPrefix returns the text before hit i in an answer.
func hitNumberPrefix(i int) string { return strconv.Itoa(i+1) + ". " }

// cutToBudget cuts the content to one page, which begins at the byte with the number offset, so that the whole answer
// fits into maxTokens. If the offset is past the content, or no text fits into maxTokens, the error matches
// [oxbow.ErrInvalid].
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

// fitsBudget reports whether the answer has at most maxTokens tokens. For a very long content, it returns false
// without counting, because a text needs at least one token for every hundred bytes.
func (out *GetOut) fitsBudget(maxTokens int) bool {
	if len(*out.Content)/100 > maxTokens {
		return false
	}
	return prompt.EstimateTokens(prompt.ReporterText(out)) <= maxTokens
}

// cutContent sets out.Content to the beginning of the argument text, shortened so that the whole answer has at most
// maxTokens tokens. It cuts after the end of a line, unless more than half the content would be lost. It sets
// out.NextOffset to the end of the content, where the next page begins. If no text fits into maxTokens, cutContent
// returns an error.
func (out *GetOut) cutContent(text string, maxTokens int) error {
	empty, notes := "", out.Notes
	out.Content = &empty
	out.addPageRangeNote(notes)
	room := maxTokens - prompt.EstimateTokens(prompt.ReporterText(out))
	for ; room > 0; room -= room/16 + 1 {
		page := cutToTokens(text, room)
		if i := strings.LastIndexByte(page, '\n') + 1; i > len(page)/2 {
			page = page[:i]
		}
		out.Content, out.NextOffset = &page, out.Offset+len(page)
		out.addPageRangeNote(notes)
		if page != "" && prompt.EstimateTokens(prompt.ReporterText(out)) <= maxTokens {
			return nil
		}
	}
	return InvalidValue("max_tokens", strconv.Itoa(maxTokens), "has no room for any of the content; give 200 or more")
}

// addPageRangeNote sets out.Notes to the given notes and a further note that says which part of the content the answer
// contains.
func (out *GetOut) addPageRangeNote(notes []Note) {
	out.Notes = append(notes[:len(notes):len(notes)], out.Page.rangeNote())
}

// cutToTokens returns the longest beginning of s that has at most maxTokens tokens.
func cutToTokens(s string, maxTokens int) string {
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

// rangeNote returns a note that says which bytes this page contains, and at which offset the next page begins.
func (p Page) rangeNote() Note {
	return Notef("bytes %d to %d of %d; %s", p.Offset, p.NextOffset, p.Size, NextPageRef(p.NextOffset))
}

// ContinuationLine returns a line to put at the end of a page, which says how to get the next page. It returns "" on
// the last page.
func (p Page) ContinuationLine() string {
	if p.NextOffset == 0 {
		return ""
	}
	return "note: " + p.rangeNote().String() + ", all else as in this call\n"
}

// PageRoom returns the number of bytes that a page has for its text. The argument otherTextBytes is the size of
// everything else in the answer, in bytes. The result is at least half of w.Page, and math.MaxInt if w.Page is 0
// (unlimited).
func (w *Workspace) PageRoom(otherTextBytes int) int {
	if w.Page == 0 {
		return math.MaxInt
	}
	const notes = 200 // number of bytes for notes about the page, and for the line that closes an open code block
	return max(w.Page-otherTextBytes-notes, w.Page/2)
}

func PartTexts(c prompt.Context) (texts []string) {
	for _, p := range c.Parts {
		texts = append(texts, p.Text)
	}
	return texts
}

// CutText joins the parts to one text and returns one page of it. The page begins at the byte with the number *offset.
// If offset is nil, the page begins at p.Offset. A page has about maxBytes bytes. If possible, the page ends between
// two parts, but a part that is longer than a page is split. If the split is inside a fenced code block, the page ends
// with a closing fence, and the next page begins with the opening fence.
//
// If the whole text fits on one page, CutText leaves p.Size and p.NextOffset unset. Otherwise p.Size is set to the size
// of the text in bytes. p.NextOffset is set only if another page follows. If the offset is not inside the text, the
// error matches [oxbow.ErrInvalid].
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
		fence := openingFenceLineAt(s, from)
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
		if open := openingFenceLineAt(s, from+len(here)); open != "" {
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

// countBackticks counts the backticks at the beginning of a line.
func countBackticks(line string) int { return len(line) - len(strings.TrimLeft(line, "`")) }

// openingFenceLineAt returns the line that opens the fenced code block around the byte with index offset in the text s.
// It returns "" if this byte is not inside a fenced code block.
func openingFenceLineAt(s string, offset int) (fenceLine string) {
	// The byte at offset may be in a line that begins or ends a code block. Include the whole line to find out.
	if offset > 0 && s[offset-1] != '\n' {
		offset += strings.IndexByte(s[offset:]+"\n", '\n') + 1
	}
	for line := range strings.Lines(s[:min(offset, len(s))]) {
		switch n := countBackticks(line); {
		case n < 3:
		case fenceLine == "":
			fenceLine = line
		case n >= countBackticks(fenceLine) && strings.TrimSpace(line[n:]) == "":
			fenceLine = ""
		}
	}
	return fenceLine
}

// cutToBudget removes entries from the end of out.Entries, so that the answer has at most maxTokens tokens. It also
// sets out.NextOffset and adds a note if more entries follow.
//
// The argument offset is the number of entries on earlier pages. A page of the list may also contain entries that the
// caller must not see, which are not in out.Entries. Therefore indexesOnPage contains, for each entry in out.Entries,
// its index on the page. The last element of indexesOnPage is the number of all entries on the page.
func (out *ListOut) cutToBudget(offset, maxTokens int, indexesOnPage []int) {
	n := CountFittingItems(
		out.Entries,
		prompt.EstimateTokens(prompt.ReporterText(ListOut{Notes: out.Notes})),
		maxTokens,
		listedEntryRecord,
	)
	next := offset + indexesOnPage[n]
	if all := len(out.Entries); n == 0 && all > 0 {
		out.EmptyReasons = budgetTooSmallNotes(0, out.Total-offset, maxTokens, out.Entries[0])
	} else if n < all {
		out.Notes = append(out.Notes, TruncatedPageNote(all, n, next-n, maxTokens, "entry", "entries"))
	} else if next < out.Total {
		out.Notes = append(out.Notes, Notef("%d more; %s", out.Total-next, NextPageRef(next)))
	}
	out.Entries = out.Entries[:n]
	if next < out.Total {
		out.NextOffset = next
	}
}

// cutToTokenBudget cuts the change list, so that the answer fits into the budget. offset is the number of changes
// before this page.
func (out *HistoryOut) cutToTokenBudget(offset, maxTokens int) {
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
	n := CountFittingItems(out.Changes, prompt.EstimateTokens(prompt.ReporterText(frame)), maxTokens, Change.record)
	if n < all {
		out.Notes = append(out.Notes, TruncatedPageNote(all, n, offset, maxTokens, "change", "changes"))
	} else if out.HasMore {
		out.Notes = append(out.Notes, Notef("there are older changes; %s", NextPageRef(offset+n)))
	}
	out.Changes = out.Changes[:n]
	if n < all || out.HasMore {
		out.HasMore, out.NextOffset = true, offset+n
	}
}
