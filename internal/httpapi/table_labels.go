// The table: labels.

package httpapi

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/tool"
)

func labelRoutes() []route {
	return []route{
		look("/labels", "labels", "List labels with the number of their entries", tool.Labels),
		change(http.MethodPost, "/labels/add", "add_labels", "Give labels to entries", tool.AddLabels),
		change(http.MethodPost, "/labels/remove", "remove_labels", "Take labels off entries", tool.RemoveLabels, takes),
		change(http.MethodPost, "/labels/rename", "rename_label", "Rename a label", tool.RenameLabel),
		change(http.MethodPost, "/labels/merge", "merge_labels", "Join labels into one", tool.MergeLabels, takes),
		look("/labels/lint", "lint_labels", "Labels that may be mistakes", tool.LintLabels),
		look("/labels/suggest", "suggest_labels", "Labels that entries may lack", tool.SuggestLabels),
		change(http.MethodPost, "/labels/accept", "accept_labels", "Give the suggested labels", tool.AcceptLabels),
	}
}
