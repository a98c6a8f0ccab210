// This file tests tokens that see only a part of the memory. Their requests must have no effect on the rest.

package httpapi

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

// TestInjectOfAPart tests /inject with a token that sees only a part of the memory. The server must answer from that
// part and must not write a file next to the store. For a token that sees the whole memory, the server must write a
// file.
func TestInjectOfAPart(t *testing.T) {
	h := newHome(t)
	files := func() (names []string) {
		all, err := os.ReadDir(filepath.Dir(h.path))
		h.must(err)
		for _, f := range all {
			names = append(names, f.Name())
		}
		return names
	}
	before := files()
	h.want(h.send("a", "GET", "/inject?prompt=which+way+does+the+crane+turn", ""), 200, `"answer"`)
	if now := files(); !slices.Equal(now, before) {
		t.Errorf("next to the store are %v, before there were %v", now, before)
	}
	h.want(h.send("all", "GET", "/inject?prompt=which+way+does+the+crane+turn", ""), 200, `"answer"`)
	if now := files(); slices.Equal(now, before) {
		t.Errorf("of the whole memory no file was kept: %v", now)
	}
	v, err := h.views.MakeView(auth.NewToken("a", "a", auth.Permissions{Projects: []string{"a"}}), "")
	h.must(err)
	if w := v.Workspace; w.Place != nil || w.Host != nil || w.Dir != "" {
		t.Errorf("a part has the place, host or directory of the whole: %+v", w)
	}
}

// TestLabelsOfAPart checks that a token cannot remove the labels by which it sees an entry. A dry run is refused like
// the real run.
func TestLabelsOfAPart(t *testing.T) {
	h := newHome(t)
	h.want(h.send("a", "PUT", "/entries/mine", `{"content":"x"}`), 201, `"project":["a"]`)
	for path, label := range map[string]string{"/labels/remove": "project:a", "/labels/add": "project:hidden"} {
		for _, dry := range []string{`true`, `false`} {
			h.want(h.send("a", "POST", path, `{"labels":["`+label+`"],"names":["mine"],"dry_run":`+dry+
				`}`), 400, "within")
		}
	}
	h.want(h.send("a", "POST", "/labels/add", `{"labels":["tag:t"],"names":["mine"]}`), 200, `"added":["tag:t"]`)
	h.want(h.send("a", "PATCH", "/entries/mine", `{"content":"y"}`), 200, `"project":["a"]`)
}

// TestOpIDs checks that an op ID and an idempotency key belong to one call by one token, also after a restart.
func TestOpIDs(t *testing.T) {
	h := newHome(t)
	one := `{"content":"one","op_id":"K1"}`
	h.want(h.send("all", "PUT", "/entries/first", one), 201)
	h.want(h.send("all", "PUT", "/entries/first", one), 201, `"added"`, "what the first call did")
	h.want(h.send("all", "PUT", "/entries/first", `{"content":"two","op_id":"K1"}`), 422, `"code":"key_reused"`)
	h.want(
		h.send("all", "POST", "/entries", `{"name":"first","content":"two","op_id":"K1"}`),
		422,
		`"code":"key_reused"`,
	)
	h.want(h.send("all", "DELETE", "/entries/first?op_id=K1", ""), 422, `"code":"key_reused"`)
	h.want(h.send("a", "PUT", "/entries/other", one), 201)

	h.want(h.send("all", "PUT", "/entries/x", `{"content":"one"}`, idempotencyKeyHeader, "k1"), 201)
	h.want(h.send("all", "POST", "/undo", "", idempotencyKeyHeader, "k2"), 200)
	h.again()
	h.want(
		h.send("all", "PUT", "/entries/x", `{"content":"two"}`, idempotencyKeyHeader, "k1"),
		422,
		`"code":"key_reused"`,
	)
	h.want(h.send("all", "POST", "/undo", `{"seq":[1]}`, idempotencyKeyHeader, "k2"), 422, `"code":"key_reused"`)
}
