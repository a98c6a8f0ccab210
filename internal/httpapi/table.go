// This file has the table of all routes.

package httpapi

import (
	"slices"
	"sync"
)

// routeTable builds the table on first use, because many programs never serve requests.
var routeTable = sync.OnceValue(func() []route {
	return slices.Concat(entryRoutes(), recallRoutes(), logRoutes(), labelRoutes(), contextRoutes(),
		inboxRoutes(), sessionRoutes(), handoffRoutes(), profileRoutes(), codeRoutes(), careRoutes(),
		folderRoutes())
})
