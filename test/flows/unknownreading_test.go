// This file tests clients that report that their agent read foreign text, but do not report the text itself. Oxbow then
// cannot recognize a note that repeats the foreign text. Therefore, until the next prompt of the person, everything
// that the agent stores must be held back and marked with a warning.

package flows

import (
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// unknownReadings returns ways in which an agent reads a foreign text. If a client cannot use one of the first two
// ways, its flow uses the third way instead, which all clients have.
func unknownReadings() []wayIn {
	return []wayIn{
		{name: "web page", use: useFetch, arg: addressOf},
		{name: "web search", use: useFind, arg: func(_ *poisonHome, f *poisonFlow) string {
			return "news of " + f.topic[0]
		}},
		{name: "another MCP server", use: useServer, arg: func(_ *poisonHome, f *poisonFlow) string {
			return f.name()
		}},
	}
}

// readUnreported returns a timing in which the agent keeps a text in the same turn in which it reads the text. The
// client reports the call that reads the text, but not the text. In the report, each field that usually contains the
// result has the value of the argument result, which is nil or "".
func readUnreported(result any) *timing {
	return &timing{name: "in the same turn, the result is not reported", run: func(h *poisonHome, f *poisonFlow) {
		s := h.session(f.client)
		s.start("startup")
		s.prompt(f.request())
		noResult := object{}
		for field := range s.client.answer(f.way.use, "", "") {
			noResult[field] = result
		}
		s.call(f.way.use, f.way.arg(h, f), "", noResult)
		f.keep.do(s, f)
		s.stop("It is done.")
	}}
}

// unknownReadingFlows returns test sessions (flows) in which an agent reads a text by others and stores it as a note in
// the same turn. The report of the read has no result or an empty result, so that oxbow does not know the text. There
// is a flow for each client and for each way of storing a note.
func unknownReadingFlows(clients []*agentClient) (all []*poisonFlow) {
	ways, keeps := unknownReadings(), keepings()
	missing, empty := readUnreported(nil), readUnreported("")
	for k := range keeps {
		isNote := slices.Contains([]string{"remember over MCP", "remember in the shell", "save_memory",
			"over a note of the agent", "as a name"}, keeps[k].name)
		if !isNote {
			continue
		}
		for c, client := range clients {
			way := &ways[(k+c)%len(ways)]
			when := missing
			if (k+c)%2 == 1 {
				when = empty
			}
			if !fits(way, &keeps[k], when, client) {
				way = &ways[2]
			}
			n := 9000 + len(all)
			f := &poisonFlow{n: n, way: way, keep: &keeps[k], when: when, client: client, flowText: textOf(n)}
			f.said = f.text
			all = append(all, f)
		}
	}
	return all
}

func TestUnknownReadings(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short, as in the step with the race detector, the flows are left to the other runs")
	}
	testenv.RequireProgram(t, "git", "apt-get install git")
	h := newPoisonHome(t)
	flows := unknownReadingFlows(h.clients)
	apart(t, flows)
	if len(flows) < 4*len(h.clients) {
		t.Fatalf("%d flows", len(flows))
	}
	for _, f := range flows {
		h.runFlow(f)
	}
	h.askAll(flows)
	shown, held := h.cameUp(flows), h.asPerson("approve", "--json")
	for _, f := range flows {
		if len(shown[f]) > 0 {
			t.Errorf("%v: %q came up by itself at %s", f, f.said, shown[f][0].at)
		}
		hits, marked := f.unmarked()
		if len(hits) > 0 {
			t.Errorf("%v: %q is found without a mark: %s", f, f.said, hits[0])
		}
		if marked == 0 && !f.repeatsText(held) {
			t.Errorf("%v: %q was not kept: %s", f, f.said, strings.TrimSpace(f.out))
		}
	}
	h.must(t, "check")
}
