// The table: entries, their past, and recall.

package httpapi

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/tool"
)

func entryRoutes() []route {
	return []route{
		look("/entries", "list", "List entries, newest first", tool.List, paged),
		change(http.MethodPost, "/entries", "create", "Add an entry", tool.RememberNew, once, entry),
		look("/entries/{name}", "get", "Read one entry", tool.Get, entry, quick),
		change(http.MethodPut, "/entries/{name}", "remember", "Keep an entry under this name", tool.Remember, once, entry),
		change(http.MethodPatch, "/entries/{name}", "update", "Change parts of an entry", tool.Remember, once, entry, must),
		change(http.MethodDelete, "/entries/{name}", "forget", "Remove an entry", tool.Forget, once, entry, takes),
		look("/entries/{name}/versions", "history", "List the versions of an entry", tool.History, paged),
		change(http.MethodPost, "/entries/{name}/restore", "restore", "Bring a version back", tool.Restore, once, entry),
		look("/entries/{name}/lineage", "lineage", "What an entry was made from, and what from it", tool.Lineage),
	}
}

func recallRoutes() []route {
	search := tool.Verb{Name: "search", Title: "Find entries by words, asked in the body", ReadOnly: true, Idempotent: true}
	return []route{
		look("/recall", "recall", "Find entries by words", tool.Recall, quick),
		newRoute(http.MethodPost, "/recall", search, tool.Recall, nil),
	}
}

func logRoutes() []route {
	return []route{
		look("/log", "log", "List changes, newest first", tool.History, paged),
		change(http.MethodPost, "/undo", "undo", "Take changes back", tool.Undo, once, takes),
		change(http.MethodPost, "/revert", "revert", "Take back all changes of a source", tool.Revert, whole, takes),
	}
}
