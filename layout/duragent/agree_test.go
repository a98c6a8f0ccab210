// This file calls the same tools with both backends of this package, and compares the answers.

package duragent

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestBackendsAgree lets two agents call tools at random. Both backends must return the same answers.
func TestBackendsAgree(t *testing.T) {
	steps := 150
	if testing.Short() {
		steps = 40
	}
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 1))
	now := clock
	homes := map[string][]layout.Home{}
	for _, backend := range []string{backendFiles, backendOxbow} {
		fsys := vfs.NewMem()
		fsys.SetClock(func() time.Time { return now })
		agents(t, fsys, backend, "bob", "rei")
		for _, agent := range []string{"bob", "rei"} {
			o := options(fsys, agent)
			o.Path, o.Memory.Clock = "", func() time.Time { return now }
			homes[agent] = append(homes[agent], openHome(t, o))
		}
	}
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	for i := range steps {
		now = now.Add(time.Duration(rnd.IntN(3)) * 7 * time.Hour / 5)
		content := pick("tea", "likes cats\n", "## 10:00\n\nnot an entry", "# "+
			now.Format(dayFormat), "\n\n", "", "crlf\r\nline", `\## 10:00`) + fmt.Sprint(i)
		if rnd.IntN(10) == 0 {
			content = pick("", " \n")
		}
		topic := pick("people", "People", "a.b", "a b", "a/b", "MEMORY", "2026-02-18 15:46", "..", "日本")
		name := pick("recall", "recall", "remember", "remember", "reflect", "update_world", "search_memory", "forget")
		args := map[string]m{
			"recall": {"days": rnd.IntN(4)}, "remember": {"content": content}, "reflect": {"content": content},
			"update_world":  {"topic": topic, "content": content},
			"search_memory": {"query": pick("tea", "cats line", "entry -cats", "likes")},
		}
		agent := pick("bob", "rei")
		var said [2]string
		for j, h := range homes[agent] {
			if name == "forget" {
				switch err := h.Memory().Forget(t.Context(), topic); {
				case errors.Is(err, oxbow.ErrNotFound), errors.Is(err, oxbow.ErrUnsupported), err == nil:
					said[j] = fmt.Sprint(err)
				default:
					t.Fatalf("seed %d, step %d: Forget(%q) = %v", seed, i, topic, err)
				}
				continue
			}
			got, err := call(t, h, name, args[name])
			if err != nil && !errors.Is(err, oxbow.ErrInvalid) && !errors.Is(err, oxbow.ErrConflict) {
				t.Fatalf("seed %d, step %d: %s(%v) = %v", seed, i, name, args[name], err)
			}
			if name != "recall" && name != "search_memory" {
				got = "" // the answer contains the file's name, which differs between the backends
			}
			said[j] = fmt.Sprint(got, err)
		}
		if said[0] != said[1] {
			t.Fatalf(
				"seed %d, step %d: %s's %s(%v) says %q in files and %q in the store",
				seed,
				i,
				agent,
				name,
				args[name],
				said[0],
				said[1],
			)
		}
	}
}
