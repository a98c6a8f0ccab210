// This file defines the table of all routes.

package httpapi

import (
	"slices"
	"sync"
)

// routeTable returns all routes. The table is built on first use, because many programs never serve requests.
var routeTable = sync.OnceValue(func() []route {
	return slices.Concat(entryRoutes(), recallRoutes(), changeLogRoutes(), labelRoutes(), contextRoutes(),
		inboxRoutes(), sessionRoutes(), handoffRoutes(), profileRoutes(), sourceCodeRoutes(), maintenanceRoutes(),
		folderRoutes())
})
