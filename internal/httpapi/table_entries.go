// This file has the routes for entries, their history, and recall.

package httpapi

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

func entryRoutes() []route {
	return []route{
		look("/entries", "list", "List entries, newest first", verb.List, withPages),
		change(http.MethodPost, "/entries", "create", "Add an entry", verb.RememberNew, singleChange, aboutEntry),
		look("/entries/{name}", "get", "Read one entry", verb.Get, aboutEntry, isQuick),
		change(
			http.MethodPut,
			"/entries/{name}",
			"remember",
			"Keep an entry under this name",
			verb.Remember,
			singleChange,
			aboutEntry,
		),
		change(
			http.MethodPatch,
			"/entries/{name}",
			"update",
			"Change parts of an entry",
			verb.Remember,
			singleChange,
			aboutEntry,
			needsEntry,
		),
		change(
			http.MethodDelete,
			"/entries/{name}",
			"forget",
			"Remove an entry",
			verb.Forget,
			singleChange,
			aboutEntry,
			removesData,
		),
		look("/entries/{name}/versions", "history", "List the versions of an entry", verb.History, withPages),
		change(
			http.MethodPost,
			"/entries/{name}/restore",
			"restore",
			"Bring a version back",
			verb.Restore,
			singleChange,
			aboutEntry,
		),
		look("/entries/{name}/lineage", "lineage", "What an entry was made from, and what from it", history.Lineage),
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
		look("/recall", "recall", "Find entries by words", verb.Recall, isQuick),
		newRoute(http.MethodPost, "/recall", search, verb.Recall, []trait{isQuick}),
	}
}

func logRoutes() []route {
	return []route{
		look("/log", "log", "List changes, newest first", verb.History, withPages),
		change(http.MethodPost, "/undo", "undo", "Take changes back", verb.Undo, singleChange, removesData),
		change(
			http.MethodPost,
			"/revert",
			"revert",
			"Show by a dry run what taking back all changes of a source would do; a person does it with oxbow revert",
			history.Revert,
			wholeMemory,
			removesData,
		),
	}
}
