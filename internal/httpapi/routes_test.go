// This file calls every route with an example, and compares the response with the route's schema.

package httpapi

import (
	"encoding/json"
	"net/http"
	"testing"
)

// The list examples contains one call for each route. The response must have the given status, and its body must
// contain the string holds. Some calls are refused with status 400 or 501, because the route is only for persons or is
// not supported by this memory. The order matters, because some calls need entries that earlier calls created.
var examples = []struct {
	route  string
	target string
	body   string
	status int
	holds  string
}{
	{"GET /entries", "/entries?limit=2&project=a", "", 200, markA},
	{"POST /entries", "/entries", `{"name":"new","content":"The bridge is closed.","tags":["road"]}`, 201,
		`"outcome":"added"`},
	{"GET /entries/{name}", "/entries/dir%2F" + markA, "", 200, "to the right"},
	{"PUT /entries/{name}", "/entries/put", `{"content":"By another name."}`, 201, `"outcome":"added"`},
	{"PATCH /entries/{name}", "/entries/put", `{"tags":["x"]}`, 200, `"outcome":"updated"`},
	{"DELETE /entries/{name}", "/entries/put", "", 200, `"forgotten":true`},
	{"GET /entries/{name}/versions", "/entries/dir%2F" + markA + "/versions", "", 200, `"verb":"update"`},
	{"POST /entries/{name}/restore", "/entries/dir%2F" + markA + "/restore", `{"seq":1}`, 200, `"from":1`},
	{"GET /entries/{name}/lineage", "/entries/new/lineage", "", 200, `"sources":[]`},
	{"GET /recall", "/recall?query=crane&explain=true", "", 200, `"explanation"`},
	{"POST /recall", "/recall", `{"query":"crane","in":"both"}`, 200, `"hits":[{`},
	{"GET /log", "/log?limit=3", "", 200, `"next"`},
	{"POST /undo", "/undo", "", 200, `"undone":[{`},
	{"POST /revert", "/revert?dry_run=true&door=http", "", 200, ""},
	{"GET /labels", "/labels", "", 200, markB + "tag"},
	{"POST /labels/add", "/labels/add", `{"labels":["tag:bridge"],"names":["new"]}`, 200, ""},
	{"POST /labels/remove", "/labels/remove", `{"labels":["tag:bridge"],"names":["new"]}`, 200, ""},
	{"POST /labels/rename", "/labels/rename", `{"old":"tag:road","new":"tag:street"}`, 200, ""},
	{"POST /labels/merge", "/labels/merge", `{"labels":["tag:street"],"into":"tag:way"}`, 200, ""},
	{"GET /labels/lint", "/labels/lint", "", 200, `"doubts"`},
	{"GET /labels/suggest", "/labels/suggest", "", 200, ""},
	{"POST /labels/accept", "/labels/accept", `{"dry_run":true}`, 200, ""},
	{"GET /context", "/context?project=a", "", 200, markA},
	{"GET /context/selection", "/context/selection?query=crane", "", 200, `"text"`},
	{"GET /inject", "/inject?prompt=hello+there&explain=true", "", 200, `"answer":"silence"`},
	{"POST /inject", "/inject", `{"prompt":"which way does the crane turn"}`, 200, `"answer"`},
	{"GET /injections", "/injections?text=true", "", 200, markA},
	{"GET /inbox", "/inbox", "", 200, `"proposals":[{`},
	{"GET /inbox/{id}", "/inbox/", "", 200, `"sentence"`},
	{"POST /inbox/accept", "/inbox/accept", "", 400, "only a person accepts a proposal"},
	{"POST /inbox/reject", "/inbox/reject", "", 400, "only a person rejects a proposal"},
	{"GET /changed", "/changed", "", 200, `"total"`},
	{"GET /held", "/held", "", 200, `"entries"`},
	{"POST /approve", "/approve", `{"names":["new"]}`, 400, "only a person approves"},
	{"GET /sessions", "/sessions", "", 200, "s-" + markA},
	{"GET /sessions/search", "/sessions/search?query=lift", "", 200, markA},
	{"GET /sessions/{session}", "/sessions/claude%2Fs-" + markA, "", 200, "lift"},
	{"GET /sessions/{session}/resume", "/sessions/s-" + markA + "/resume", "", 200, "claude --resume"},
	{"GET /sessions/{session}/handoff", "/sessions/s-" + markA + "/handoff", "", 200, `"record":"Goal`},
	{"DELETE /sessions/{session}", "/sessions/s-" + markA, "", 200, `"turns":1`},
	{"POST /sessions/restore", "/sessions/restore", "", 200, `"undone":true`},
	{"POST /handoffs", "/handoffs", `{"summary":"The bridge is half done.","plan":"Finish it."}`, 200, `"name"`},
	{"GET /handoffs", "/handoffs", "", 200, "half done"},
	{"GET /handoffs/{name}", "/handoffs/", "", 200, "half done"},
	{"POST /handoffs/{name}/take", "/handoffs/", "{}", 200, `"state":"taken"`},
	{"DELETE /handoffs/{name}", "/handoffs/", "", 200, "half done"},
	{"GET /profiles", "/profiles", "", 200, `"alpha"`},
	{"GET /profiles/{name}", "/profiles/alpha", "", 200, "project:a"},
	{"GET /profiles/{profile}/selection", "/profiles/alpha/selection", "", 200, markA},
	{"GET /profiles/{name}/budget", "/profiles/alpha/budget", "", 200, `"room"`},
	{"GET /profiles/{names}/lint", "/profiles/alpha/lint", "", 200, `"profile":"alpha"`},
	{"POST /annotations", "/annotations", `{"file":"a.go","start_line":2,"why":"two of them are enough"}`, 200, ""},
	{"GET /annotations", "/annotations?file=a.go", "", 200, "two of them are enough"},
	{"GET /annotations/stats", "/annotations/stats", "", 200, `"annotations":1`},
	{"POST /folders", "/folders", `{"dir":"/tmp"}`, 400, "only a person registers folders"},
	{"GET /folders", "/folders", "", 200, `"folders":[]`},
	{"POST /folders/sync", "/folders/sync", `{"dry_run":true}`, 200, `"changes":[]`},
	{"DELETE /folders/{folder}", "/folders/vault", "", 400, "only a person removes folders"},
	{"POST /consolidate", "/consolidate", `{"dry_run":true}`, 200, ""},
	{"POST /compress", "/compress", `{"dry_run":true}`, 501, "not laid out by days"},
	{"POST /compress/undo", "/compress/undo", `{"names":["week-2024-W16"]}`, 501, "not laid out by days"},
	{"POST /scan", "/scan", "", 200, ""},
	{"GET /check", "/check", "", 200, `"ok":true`},
	{"GET /stats", "/stats", "", 200, `"last_change"`},
	{"GET /doctor", "/doctor", "", 200, ""},
}

func TestRoutes(t *testing.T) {
	h := newHome(t)
	called := map[string]bool{}
	for _, e := range examples {
		called[e.route] = true
		target, body := e.target, e.body
		switch e.route {
		case "GET /inbox/{id}", "POST /inbox/accept", "POST /inbox/reject":
			id := h.send("all", http.MethodGet, "/inbox", "").get(t, "proposals", 0, "id").(string)
			target += id
			if e.route != "GET /inbox/{id}" {
				target, body = e.target, object(map[string]any{"ids": []string{id}})
			}
		case "GET /handoffs/{name}", "POST /handoffs/{name}/take", "DELETE /handoffs/{name}":
			all := h.send("all", http.MethodGet, "/handoffs?all=true", "")
			target += escapeSegment(all.get(t, "handoffs", 0, "name").(string))
			if method, path, _ := cutRoute(e.route); method == http.MethodPost {
				target += path[len("/handoffs/{name}"):]
			}
		}
		method, _, _ := cutRoute(e.route)
		got := h.send("all", method, target, body)
		h.want(got, e.status, e.holds)
		if got.status != e.status {
			t.Errorf("this was %s", e.route)
		}
		if got.status < 300 {
			fitsSchema(t, e.route, []byte(got.body))
		}
	}
	for _, r := range routeTable() {
		if !called[r.method+" "+r.path] {
			t.Errorf("%s %s is called by no example", r.method, r.path)
		}
	}
}

func cutRoute(s string) (method, path string, ok bool) {
	for i := range s {
		if s[i] == ' ' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// fitsSchema fails the test unless the response body fits the schema of the route.
func fitsSchema(t testing.TB, route string, body []byte) {
	t.Helper()
	for _, r := range routeTable() {
		if r.method+" "+r.path != route {
			continue
		}
		s, err := r.verb.Output().Resolve(nil)
		if err != nil {
			t.Fatalf("%s: the schema of the answer: %v", route, err)
		}
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatalf("%s: %v: %s", route, err, body)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: the answer does not fit its schema: %v: %s", route, err, body)
		}
	}
}
