// This file has the routes for labels.

package httpapi

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

func labelRoutes() []route {
	return []route{
		look("/labels", "labels", "List labels with the number of their entries", verb.Labels),
		change(http.MethodPost, "/labels/add", "add_labels", "Give labels to entries", verb.AddLabels),
		change(
			http.MethodPost,
			"/labels/remove",
			"remove_labels",
			"Take labels off entries",
			verb.RemoveLabels,
			removes,
		),
		change(http.MethodPost, "/labels/rename", "rename_label", "Rename a label", verb.RenameLabel),
		change(http.MethodPost, "/labels/merge", "merge_labels", "Join labels into one", verb.MergeLabels, removes),
		look("/labels/lint", "lint_labels", "Labels that may be mistakes", verb.LintLabels),
		look("/labels/suggest", "suggest_labels", "Labels that entries may lack", verb.SuggestLabels),
		change(http.MethodPost, "/labels/accept", "accept_labels", "Give the suggested labels", verb.AcceptLabels),
	}
}
