// This file escapes names for the paths of requests.

package httpapi

import (
	"net/url"
	"strings"
)

// escape returns a name as one path segment.
func escape(name string) string {
	s := url.PathEscape(name)
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return s
}
