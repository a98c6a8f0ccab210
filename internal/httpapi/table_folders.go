// This file has the routes for directories of Markdown files that the memory follows.

package httpapi

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb/folders"
)

func folderRoutes() []route {
	return []route{
		newReadRoute(
			"/folders",
			"folders",
			"List the directories that the memory follows",
			folders.List,
			requireWholeMemoryAccess,
		),
		newWriteRoute(http.MethodPost, "/folders", "add_folder", "Follow a directory of Markdown files; for persons",
			folders.Add, requireWholeMemoryAccess),
		newWriteRoute(http.MethodPost, "/folders/sync", "sync_folders", "Compare the directories with the memory now",
			folders.Sync, requireWholeMemoryAccess, markDestructive),
		newWriteRoute(
			http.MethodDelete,
			"/folders/{folder}",
			"remove_folder",
			"Stop following a directory; for persons",
			folders.Remove,
			requireWholeMemoryAccess,
			markDestructive,
		),
	}
}
