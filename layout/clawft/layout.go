// This file plans how changes to entries change the text of MEMORY.md and HISTORY.md.

package clawft

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

var _ mdtree.Layout = treeLayout{}

// Dirs implements [mdtree.Layout].
func (treeLayout) Dirs() []string { return []string{"."} }

// Match implements [mdtree.Layout].
func (treeLayout) Match(filePath string) bool {
	return filePath == memoryFile || filePath == historyFile
}

// Plan implements [mdtree.Layout].
func (l treeLayout) Plan(v mdtree.TreeView, op oxbow.Op, now time.Time) ([]mdtree.Edit, error) {
	if add, ok := op.(oxbow.Add); ok {
		path := memoryFile
		switch add.Kind {
		case oxbow.Note:
		case oxbow.History:
			path = historyFile
		default:
			return nil, fmt.Errorf(
				"keeping an entry of kind %s: %w: MEMORY.md holds notes and HISTORY.md what is of kind history",
				add.Kind,
				oxbow.ErrUnsupported,
			)
		}
		text, _ := v.FileText(path)
		return []mdtree.Edit{{Path: path, Text: l.addEntry(path, text, add.ApplyTo(oxbow.Entry{}), now)}}, nil
	}
	place, _ := v.Find(op.Target())
	text, _ := v.FileText(place.Path)
	items := l.parseItems(place.Path, text)
	i := slices.IndexFunc(items, func(it parsedItem) bool { return it.start == place.StartOffset })
	if i < 0 {
		return nil, errors.New("clawft: the entry is not where it was read")
	}
	if _, ok := op.(oxbow.Remove); ok {
		return []mdtree.Edit{{Path: place.Path, Text: l.removeItem(place.Path, text, items, i)}}, nil
	}
	e := op.ApplyTo(place.Entry.Clone())
	return []mdtree.Edit{{Path: place.Path, Text: l.rewriteItem(place.Path, text, items, i, e)}}, nil
}

// lineEndsBeforeParagraph returns the line ends to append to a text, so that a blank line separates it from a new
// paragraph.
func lineEndsBeforeParagraph(text string) string {
	eol := lineEnding(text)
	body := strings.TrimRightFunc(text, unicode.IsSpace)
	tail := text[len(body):]
	have, want := strings.Count(tail, "\n"), 2
	if strings.TrimPrefix(body, "\ufeff") == "" {
		want = 0
	}
	more := ""
	isBlankLine := tail != "" && !strings.HasSuffix(tail, "\n")
	mayEnd := have > 0 || want == 0
	if isBlankLine && mayEnd {
		more = eol // The last line consists of spaces. Add a line break, so that the line becomes a blank line.
	}
	for have += len(more) / len(eol); have < want; have++ {
		more += eol
	}
	return more
}

// addEntry returns the text with the entry e appended. It writes the entry in the simplest form that the parser reads
// back unchanged. If e has no creation time, addEntry uses now. The result ends with a blank line, so that text that
// another program appends later begins a new paragraph.
func (l treeLayout) addEntry(path, text string, e oxbow.Entry, now time.Time) string {
	bare := len(e.Aliases) == 0 && len(e.Labels) == 0
	given := !e.Created.IsZero()
	if !given {
		e.Created = now.UTC().Truncate(time.Second)
	}
	eol := lineEnding(text)
	before := l.parseItems(path, text)
	result := text
	for body := range l.possibleEntryTexts(e, nil, before, eol, bare) {
		result = text + lineEndsBeforeParagraph(text) + body + eol + eol
		after := l.parseItems(path, result)
		keepsOthers := len(after) == len(before)+1 && hasSameItemsExcept(before, after, -1, len(before))
		if !keepsOthers || !l.parsesAsEntry(path, &after[len(before)], e) {
			continue
		}
		if !given || after[len(before)].toEntry(path).Created.Equal(e.Created) {
			break
		}
	}
	return result
}

// rewriteItem returns the text of the file in which the entry e replaces items[i]. It writes the entry in the simplest
// form from which the parser reads all entries back unchanged.
func (l treeLayout) rewriteItem(path, text string, items []parsedItem, i int, e oxbow.Entry) string {
	it := &items[i]
	bare := it.comment == nil && len(e.Aliases) == 0 && len(e.Labels) == 0
	if it.comment != nil {
		e.Created = it.created
	}
	result := text
	for body := range l.possibleEntryTexts(e, it.comment, items, lineEnding(text), bare) {
		result = text[:it.start] + body + text[it.end:]
		after := l.parseItems(path, result)
		keepsOthers := len(after) == len(items) && hasSameItemsExcept(items, after, i, i)
		if keepsOthers && l.parsesAsEntry(path, &after[i], e) {
			break
		}
	}
	return result
}

// possibleEntryTexts yields the texts that may represent an entry in a file, from the simplest to the most explicit. If
// allowsBareContent is true, the first text is only the content. The next text is the content below a comment with the
// entry's name and labels. The last text is the content between an opening and a closing comment. The caller must try
// the texts in this order, and write the simplest text from which the parser reads the entry back unchanged.
func (l treeLayout) possibleEntryTexts(
	e oxbow.Entry,
	old *entryComment,
	neighbourItems []parsedItem,
	eol string,
	allowsBareContent bool,
) iter.Seq[string] {
	content := e.Content
	if eol != "\n" {
		content = strings.ReplaceAll(content, "\n", eol)
	}
	return func(yield func(string) bool) {
		if allowsBareContent && !yield(content) {
			return
		}
		m := makeEntryComment(e, old)
		if !yield(m.encode() + eol + content) {
			return
		}
		// Find a number for the closing comment that is free. The closing line must not occur in the content. It must
		// also not be taken for the closing line of an earlier entry that lacks its own.
		free := func(n int) bool {
			return !strings.Contains(content, closingCommentLine(n)) &&
				!slices.ContainsFunc(neighbourItems, func(it parsedItem) bool {
					return it.comment != nil && it.comment.End == n && it.end <= it.contentEnd
				})
		}
		for m.End = 1; !free(m.End); m.End++ {
		}
		yield(m.encode() + eol + content + eol + closingCommentLine(m.End))
	}
}

// parsesAsEntry reports whether an item is parsed as the entry e. The creation time may differ.
func (l treeLayout) parsesAsEntry(path string, it *parsedItem, e oxbow.Entry) bool {
	got := it.toEntry(path)
	return got.Name == e.Name && got.Content == e.Content && slices.Equal(got.Aliases, e.Aliases) &&
		slices.Equal(got.Labels, oxbow.SortLabels(e.Labels))
}

// hasSameItemsExcept reports whether the items in before and after have the same names and contents, in the same order.
// The item before[i] and the item after[j] are ignored. An index outside its list ignores nothing.
func hasSameItemsExcept(before, after []parsedItem, i, j int) bool {
	rest := func(items []parsedItem, but int) []parsedItem {
		if but < 0 || but >= len(items) {
			return items
		}
		return slices.Concat(items[:but], items[but+1:])
	}
	return slices.EqualFunc(rest(before, i), rest(after, j), func(a, b parsedItem) bool {
		return a.name == b.name && a.content == b.content
	})
}

// removeItem returns the text without the item at index i. If several paragraphs have the same beginning, the parser
// numbers their names, such as "Name (2)". If one of these paragraphs is removed, the other paragraphs' numbers would
// change. To prevent this, removeItem adds a comment with its name to each remaining paragraph with this beginning.
func (l treeLayout) removeItem(path, text string, items []parsedItem, i int) string {
	want := slices.Delete(slices.Clone(items), i, i+1)
	eol := lineEnding(text)
	base := items[i].name
	if items[i].comment == nil {
		base = l.baseName(path, items[i].content)
	}
	named := map[int]bool{}
	for j := range items {
		it := &items[j]
		named[j] = j != i && it.comment == nil && it.name != base && l.baseName(path, it.content) == base
	}
	result := text
	for range 2 {
		for _, between := range []string{"", eol, eol + eol} {
			result = text
			for j := len(items) - 1; j >= 0; j-- { // Go backwards, so that the offsets of the items before stay valid.
				switch it := &items[j]; {
				case j == i:
					result = replaceRange(result, it.start, it.end, between)
				case named[j]:
					result = result[:it.start] + makeEntryComment(
						it.toEntry(path),
						nil,
					).encode() +
						eol + result[it.start:]
				}
			}
			if hasSameItemsExcept(want, l.parseItems(path, result), -1, -1) {
				return result
			}
		}
		// The headings above the removed paragraph have become a part of the next paragraph. Try again with a comment
		// before the next paragraph, which separates the headings from it.
		if i+1 == len(items) || items[i+1].comment != nil {
			break
		}
		named[i+1] = true
	}
	return result
}

// replaceRange replaces text[start:end] and the blank lines after it by replacement.
func replaceRange(text string, start, end int, replacement string) string {
	for end < len(text) {
		stop, next := lineBounds(text, end)
		if !isBlank(text[end:stop]) {
			break
		}
		end = next
	}
	return text[:start] + replacement + text[end:]
}
