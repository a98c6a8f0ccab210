// This file tests that remembered identifiers of texts are those that would be computed again.

package fingerprint

import (
	"fmt"
	"slices"
	"testing"
)

// TestTextIDsAreRemembered adds texts with different kinds and labels several times. Each time, the identifiers must be
// the same, and they must be different for different texts. From the second time on, they must be remembered.
func TestTextIDsAreRemembered(t *testing.T) {
	trustNewFiles(t)
	f, _ := newFile(t)
	texts := []TextReadByTool{
		{ForeignTextBlock, page, nil},
		{UnknownAuthorTextBlock, page, nil},
		{ForeignTextBlock, page, []string{"a", "b"}},
		{ForeignTextBlock, page, []string{"ab"}},
		{ForeignTextBlock, page, []string{""}},
		{ForeignTextBlock, words(0, 12), nil},
	}
	var first []string
	withoutCaches(func() {
		var err error
		first, err = f.AddAll(texts...)
		if err != nil {
			t.Fatal(err)
		}
	})
	if sorted := slices.Sorted(slices.Values(first)); len(slices.Compact(sorted)) != len(texts) {
		t.Errorf("different texts have the same identifier: %q", first)
	}
	for range 3 {
		for _, i := range []int{3, 1, 0, 2, 5, 4} {
			if ids, err := f.AddAll(texts[i]); err != nil || ids[0] != first[i] {
				t.Errorf("text %d has the identifier %q (error %v), want %q", i, ids, err, first[i])
			}
		}
		if ids, err := f.AddAll(texts...); err != nil || !slices.Equal(ids, first) {
			t.Errorf("all texts have the identifiers %q (error %v), want %q", ids, err, first)
		}
	}
	known := &cacheOfDir(f.Dir).textIDs
	if _, ids := known.findAll(texts); len(ids) != len(texts) {
		t.Error("the identifiers are not remembered")
	}
	for i := range 3 * maxCachedTextIDs / 100 {
		many := make([]TextReadByTool, 100)
		for j := range many {
			many[j] = TextReadByTool{ForeignTextBlock, fmt.Sprint("text ", 100*i+j), nil}
		}
		known.addAll(known.key, many, make([]uint64, len(many)))
	}
	if n := len(known.ids); n > maxCachedTextIDs {
		t.Errorf("%d identifiers are remembered, want at most %d", n, maxCachedTextIDs)
	}
}
