// This file escapes names for the paths of requests.

package httpapi

import (
	"net/url"
	"strings"
)

// escapeSegment escapes a name so that it is a single segment of a path.
func escapeSegment(name string) string {
	s := url.PathEscape(name)
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return s
}
