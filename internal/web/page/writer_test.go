// This file tests how pages name the author of a change.

package page

import (
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func TestWriter(t *testing.T) {
	for _, c := range []struct {
		viewer Viewer
		by     oxbow.Actor
		want   string
	}{
		{Viewer{Actor: oxbow.Person}, oxbow.Person, "you"},
		// Somebody else may have made the change.
		{Viewer{Actor: oxbow.Person, HasSeveralUsers: true}, oxbow.Person, "a person"},
		{Viewer{Actor: oxbow.Agent}, oxbow.Person, "a person"},
		{Viewer{Actor: oxbow.Person}, oxbow.Agent, "an agent"},
		{Viewer{Actor: oxbow.Person}, oxbow.Imported, "an import"},
	} {
		if got := c.viewer.WriterName(verb.Source{Actor: string(c.by)}); got != c.want {
			t.Errorf("%+v calls the author %q %q, want %q", c.viewer, c.by, got, c.want)
		}
	}
}
