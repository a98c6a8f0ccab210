// This file tests oxbow's own tools in each layout, and the optional interfaces of all layouts.

package layouttest

import (
	"testing"

	"github.com/oxbow-memory/oxbow/internal/layouts"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/entryfiles"
	"github.com/oxbow-memory/oxbow/vfs"
)

// The variable own contains calls of the tools that oxbow adds to the homes of every layout. The tools of a single
// layout are not included.
var own = [][]WriteCall{
	{
		{"remember", Args{"name": "n", "content": "TEXT"}},
		{"forget", Args{"name": "n"}},
		{"save_memory", Args{"content": "TEXT"}},
		{"handoff_task", Args{"summary": "TEXT"}}, {"undo", Args{}}, {"restore", Args{"name": "n", "seq": 1}},
	},
}

// TestOwnTools tests oxbow's own tools in each layout. The tools of a layout are tested in the layout's package, by
// [CheckWriteTools].
func TestOwnTools(t *testing.T) {
	for _, d := range layouts.All() {
		t.Run(d.Name, func(t *testing.T) {
			checkWriterContract(t, writerContract{
				dialect:                    d,
				tools:                      func(layout.Home) []verb.Tool { return verb.Tools() },
				callListsKeepingEdits:      own,
				callListsReplacingToolText: [][]WriteCall{own[0][:2]},
			})
		})
	}
}

// TestCapabilities checks that each dialect reports the optional interfaces that its homes have.
func TestCapabilities(t *testing.T) {
	for _, d := range layouts.All() {
		s, _ := sharedHome{vfs.NewMem(), d}.openWithNewSession(t)
		if _, ok := s.(layout.Compressor); ok != d.HasCompressor {
			t.Errorf("%s: HasCompressor is %v, and the home is a Compressor: %v", d.Name, d.HasCompressor, ok)
		}
		if _, ok := s.(layout.Tidier); ok != d.HasTidier {
			t.Errorf("%s: HasTidier is %v, and the home is a Tidier: %v", d.Name, d.HasTidier, ok)
		}
	}
}

// TestLabelsAloneKeepWhatIsKnown tests a session that changes only the labels of an entry. The change does not show the
// entry's content to the session, so the session still knows only the old content.
func TestLabelsAloneKeepWhatIsKnown(t *testing.T) {
	h := sharedHome{vfs.NewMem(), entryfiles.Dialect()}
	s, ctx := h.openWithNewSession(t)
	for _, c := range []WriteCall{
		{"remember", Args{"name": "n", "content": "TEXT"}},
		{"remember", Args{"name": "n", "tags": []string{"x"}}},
		{"remember", Args{"name": "n", "content": "Line one.\nLine three."}},
	} {
		if err := c.callTool(t, ctx, s, verb.Tools(), firstText); err != nil {
			t.Fatalf("%v: %v", c.Args, err)
		}
	}
}
