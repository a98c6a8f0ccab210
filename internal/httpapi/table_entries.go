// This file has the routes for entries, their history, and recall.

package httpapi

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

func entryRoutes() []route {
	return []route{
		readRoute("/entries", "list", "List entries, newest first", verb.List, markWithPages),
		writeRoute(
			http.MethodPost,
			"/entries",
			"create",
			"Add an entry",
			verb.RememberNew,
			markSingleChange,
			markAboutEntry,
		),
		readRoute("/entries/{name}", "get", "Read one entry", verb.Get, markAboutEntry, markQuick),
		writeRoute(
			http.MethodPut,
			"/entries/{name}",
			"remember",
			"Keep an entry under this name",
			verb.Remember,
			markSingleChange,
			markAboutEntry,
		),
		writeRoute(
			http.MethodPatch,
			"/entries/{name}",
			"update",
			"Change parts of an entry",
			verb.Remember,
			markSingleChange,
			markAboutEntry,
			requireEntry,
		),
		writeRoute(
			http.MethodDelete,
			"/entries/{name}",
			"forget",
			"Remove an entry",
			verb.Forget,
			markSingleChange,
			markAboutEntry,
			markDestructive,
		),
		readRoute("/entries/{name}/versions", "history", "List the versions of an entry", verb.History, markWithPages),
		writeRoute(
			http.MethodPost,
			"/entries/{name}/restore",
			"restore",
			"Bring a version back",
			verb.Restore,
			markSingleChange,
			markAboutEntry,
		),
		readRoute(
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
		readRoute("/recall", "recall", "Find entries by words", verb.Recall, markQuick),
		newRoute(http.MethodPost, "/recall", search, verb.Recall, []routeOption{markQuick}),
	}
}

func logRoutes() []route {
	return []route{
		readRoute("/log", "log", "List changes, newest first", verb.History, markWithPages),
		writeRoute(
			http.MethodPost,
			"/undo",
			"undo",
			"Take changes back",
			verb.Undo,
			markSingleChange,
			markDestructive,
		),
		writeRoute(
			http.MethodPost,
			"/revert",
			"revert",
			"Show by a dry run what taking back all changes of a source would do; a person does it with oxbow revert",
			history.RevertChanges,
			requireWholeMemory,
			markDestructive,
		),
	}
}
