// This file has the routes for labels.

package httpapi

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb/labels"
)

func labelRoutes() []route {
	return []route{
		newReadRoute("/labels", "labels", "List labels with the number of their entries", labels.ListLabels),
		newWriteRoute(http.MethodPost, "/labels/add", "add_labels", "Give labels to entries", labels.AddLabels),
		newWriteRoute(
			http.MethodPost,
			"/labels/remove",
			"remove_labels",
			"Take labels off entries",
			labels.RemoveLabels,
			markDestructive,
		),
		newWriteRoute(http.MethodPost, "/labels/rename", "rename_label", "Rename a label", labels.RenameLabel),
		newWriteRoute(
			http.MethodPost,
			"/labels/merge",
			"merge_labels",
			"Join labels into one",
			labels.MergeLabels,
			markDestructive,
		),
		newReadRoute("/labels/lint", "lint_labels", "Labels that may be mistakes", labels.LintLabels),
		newReadRoute("/labels/suggest", "suggest_labels", "Labels that entries may lack", labels.SuggestLabels),
		newWriteRoute(
			http.MethodPost,
			"/labels/accept",
			"accept_labels",
			"Give the suggested labels",
			labels.AcceptLabels,
		),
	}
}
