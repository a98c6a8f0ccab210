// What tests within the package cannot import.

package oxbow_test

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
)

func init() { oxbow.ParseForTest = query.Parse }
