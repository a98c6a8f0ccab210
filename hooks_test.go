// This file sets variables of package oxbow to functions of packages query and scope. Tests within package oxbow cannot
// import these packages, because these packages import oxbow.

package oxbow_test

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/scope"
)

func init() {
	oxbow.ParseForTest = query.Parse
	oxbow.WithinForTest = func(m *oxbow.Memory, f oxbow.Filter) *oxbow.Memory {
		return scope.Within(m, scope.Scope{Any: []oxbow.Filter{f}})
	}
}
