// Names in the paths of requests.

package httpapi

import (
	"net/url"
	"strings"
)

// escape writes a name as one segment of a path.
func escape(name string) string {
	s := url.PathEscape(name)
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return s
}
