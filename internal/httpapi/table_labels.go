// This file has the routes for labels.

package httpapi

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb/labels"
)

func labelRoutes() []route {
	return []route{
		readRoute("/labels", "labels", "List labels with the number of their entries", labels.ListLabels),
		writeRoute(http.MethodPost, "/labels/add", "add_labels", "Give labels to entries", labels.AddLabels),
		writeRoute(
			http.MethodPost,
			"/labels/remove",
			"remove_labels",
			"Take labels off entries",
			labels.RemoveLabels,
			markDestructive,
		),
		writeRoute(http.MethodPost, "/labels/rename", "rename_label", "Rename a label", labels.RenameLabel),
		writeRoute(
			http.MethodPost,
			"/labels/merge",
			"merge_labels",
			"Join labels into one",
			labels.MergeLabels,
			markDestructive,
		),
		readRoute("/labels/lint", "lint_labels", "Labels that may be mistakes", labels.LintLabels),
		readRoute("/labels/suggest", "suggest_labels", "Labels that entries may lack", labels.SuggestLabels),
		writeRoute(
			http.MethodPost,
			"/labels/accept",
			"accept_labels",
			"Give the suggested labels",
			labels.AcceptLabels,
		),
	}
}
