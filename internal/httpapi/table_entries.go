// This file has the routes for entries, their history, and recall.

package httpapi

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

func entryRoutes() []route {
	return []route{
		newReadRoute("/entries", "list", "List entries, newest first", verb.ListEntries, markPaged),
		newWriteRoute(
			http.MethodPost,
			"/entries",
			"create",
			"Add an entry",
			verb.RememberNewEntry,
			markSingleChange,
			markEntryNameArgument,
		),
		newReadRoute("/entries/{name}", "get", "Read one entry", verb.Get, markEntryNameArgument, markConstantTime),
		newWriteRoute(
			http.MethodPut,
			"/entries/{name}",
			"remember",
			"Keep an entry under this name",
			verb.Remember,
			markSingleChange,
			markEntryNameArgument,
		),
		newWriteRoute(
			http.MethodPatch,
			"/entries/{name}",
			"update",
			"Change parts of an entry",
			verb.Remember,
			markSingleChange,
			markEntryNameArgument,
			requireExistingEntry,
		),
		newWriteRoute(
			http.MethodDelete,
			"/entries/{name}",
			"forget",
			"Remove an entry",
			verb.Forget,
			markSingleChange,
			markEntryNameArgument,
			markDestructive,
		),
		newReadRoute(
			"/entries/{name}/versions",
			"history",
			"List the versions of an entry",
			verb.ListHistory,
			markPaged,
		),
		newWriteRoute(
			http.MethodPost,
			"/entries/{name}/restore",
			"restore",
			"Bring a version back",
			verb.RestoreVersion,
			markSingleChange,
			markEntryNameArgument,
		),
		newReadRoute(
			"/entries/{name}/lineage",
			"lineage",
			"What an entry was made from, and what from it",
			history.Lineage,
		),
	}
}

func recallRoutes() []route {
	search := verb.Verb{
		Name:       "search",
		Title:      "Find entries by words, asked in the body",
		ReadOnly:   true,
		Idempotent: true,
	}
	return []route{
		newReadRoute("/recall", "recall", "Find entries by words", verb.Recall, markConstantTime),
		newRoute(http.MethodPost, "/recall", search, verb.Recall, []routeOption{markConstantTime}),
	}
}

func changeLogRoutes() []route {
	return []route{
		newReadRoute("/log", "log", "List changes, newest first", verb.ListHistory, markPaged),
		newWriteRoute(
			http.MethodPost,
			"/undo",
			"undo",
			"Take changes back",
			verb.Undo,
			markSingleChange,
			markDestructive,
		),
		newWriteRoute(
			http.MethodPost,
			"/revert",
			"revert",
			"Show by a dry run what taking back all changes of a source would do; a person does it with oxbow revert",
			history.RevertChanges,
			requireWholeMemoryAccess,
			markDestructive,
		),
	}
}
