// This file contains the table of the verbs that every server offers.

package verb

import (
	"slices"
	"sync"
)

// oxbowTools returns the table of the tools that every server offers. The table is created when it is first needed. A
// command that a person types does not need the table, because it calls the function of the verb directly.
var oxbowTools = sync.OnceValue(func() []Tool {
	look := verbTraits{readOnly: true, idempotent: true}
	change := verbTraits{idempotent: true} // A single call can undo a change that a verb with these traits makes.
	return []Tool{
		defineTool("remember", "Save to memory", change, Remember),
		defineTool("recall", "Search memory", look, Recall),
		defineTool("get", "Read one memory", look, Get),
		defineTool("list", "List memory", look, ListEntries),
		defineTool("forget", "Delete from memory", verbTraits{destructive: true, idempotent: true}, Forget),
		defineTool("history", "History of memory", look, ListHistory),
		defineTool("undo", "Undo a change of memory", verbTraits{}, Undo),
		defineTool("restore", "Restore an earlier memory", change, RestoreVersion),
		defineTool("save_memory", "Save a memory", verbTraits{}, saveMemory),
		defineTool("handoff_task", "Hand off a task with its memory", verbTraits{}, storeOrTakeHandoff),
	}
})

// Tools returns the verbs that every server offers, always in the same order.
func Tools() []Tool { return slices.Clone(oxbowTools()) }

// FindTool returns the tool with this name. It returns false if the list [Tools] contains no such tool.
func FindTool(name string) (Tool, bool) {
	for _, t := range oxbowTools() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
