// This file tests that the list of profiles leaves out descriptions that look like instructions.

package verb

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

func TestListedDescriptions(t *testing.T) {
	s := newStudy(t, true)
	for form, order := range testenv.Orders() {
		s.write("profiles/vtt.yaml", "name: vtt\ndescription: "+order+"\n")
		out, err := s.workspace.Profiles.list()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range out.Profiles {
			if p.Name == "vtt" && strings.Contains(p.Description, strings.Join(strings.Fields(order), " ")) {
				t.Errorf("%s: the list has %q", form, p.Description)
			}
		}
	}
}
