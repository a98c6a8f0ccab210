// This file tests that a memory can be converted from any layout to any other layout without a loss.

package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestConvertBetweenLayouts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	layouts := layoutNames()
	for _, layout := range layouts {
		home := filepath.Join(w.dir, layout)
		w.must(t, "init", "--dialect", layout, "--home", home)
		for i := 1; i <= 3; i++ {
			w.must(t, "--home", home, "remember", fmt.Sprint("fact ", i),
				fmt.Sprintf("Fact number %d is about harbors.", i))
		}
	}
	for _, from := range layouts {
		for _, to := range layouts {
			if from == to {
				continue
			}
			source, home := filepath.Join(w.dir, from), filepath.Join(w.dir, from+" to "+to)
			w.must(t, "--home", source, "convert", home, "--to", to, "--adapt")
			w.must(t, "--home", home, "check")
			list := w.must(t, "--home", home, "list")
			exported := w.must(t, "--home", home, "export")
			for i := 1; i <= 3; i++ {
				if name := fmt.Sprint("fact ", i); !strings.Contains(list, name) {
					t.Errorf("from %s to %s: %q is not listed:\n%s", from, to, name, list)
				}
				if content := fmt.Sprintf("Fact number %d is about harbors.", i); !strings.Contains(exported, content) {
					t.Errorf("from %s to %s: %q is not exported:\n%s", from, to, content, exported)
				}
			}
		}
		w.must(t, "--home", filepath.Join(w.dir, from), "check") // The source must still be undamaged.
	}
}
