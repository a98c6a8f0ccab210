// This file tests memory poisoning. Each flow is a scenario in which an agent reads a foreign text and stores it in the
// memory. The flows combine the ways in which the text reaches the agent, the ways in which the agent stores the text,
// and the times at which the agent stores it. The text must never be shown if nobody asks for it. If somebody asks for
// the text, it must have a mark, which is a warning.

package flows

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// isFor reports whether the client c can keep a text in the way k.
func (k *keeping) isFor(c *agentClient) bool {
	return k.only == nil || slices.Contains(k.only, c.name)
}

// fits reports whether a flow (an agent reads a foreign text and keeps it in the memory) is possible with these parts.
// It returns false if the client lacks the tool or the subagent for reading the text, if the client cannot keep the
// text in the way k, or if when requires a second client but only one client can keep the text in this way. If the
// client has a field subagent, a way with the tool useAgent is not possible. A flow in a single command line also
// requires that both w and k support pipes.
func fits(w *wayIn, k *keeping, when *timing, c *agentClient) bool {
	_, hasTool := c.tools[w.use]
	switch {
	case !k.isFor(c), len(k.only) == 1 && when.byAnother, w.brings == nil && !hasTool, w.bySubagent &&
		c.subagent == nil, w.use == useAgent && c.subagent != nil:
		return false
	case when.piped:
		return w.pipes && k.piped != nil
	}
	return true
}

// poisonFlows returns flows of foreign text. Each flow has a way in (how the client's agent reads the text), a way of
// keeping (how the agent stores the text), a time and a client. The parameter oneOf is n if only one in n combinations
// of way in and way of keeping is used, and 1 for all of them. Combinations that no client supports are skipped. Times
// and clients are used about equally often.
func poisonFlows(clients []*agentClient, oneOf int) (all []*poisonFlow) {
	ways := waysIn()
	keeps := keepings()
	times := timings()
	used := map[any]int{}
	for k := range keeps {
		for w := range ways {
			if (w+k)%oneOf != 0 {
				continue
			}
			when, client := pick(used, times, clients, func(t *timing, c *agentClient) bool {
				return fits(&ways[w], &keeps[k], t, c)
			})
			if when == nil {
				continue // No client supports both the way in and the way of keeping.
			}
			f := &poisonFlow{n: len(all), way: &ways[w], keep: &keeps[k], when: when, client: client}
			f.flowText = textOf(f.n)
			f.said = saidForms[len(all)%len(saidForms)].form(f.text)
			all = append(all, f)
		}
	}
	return all
}

// pick returns the time and the client that have been used least, among those for which the function fits returns true.
// It also adds 1 to their numbers of uses in the map used. If no time and client fit, pick returns nil for both.
func pick(
	used map[any]int,
	times []timing,
	clients []*agentClient,
	fits func(*timing, *agentClient) bool,
) (when *timing, client *agentClient) {
	for t := range times {
		for _, c := range clients {
			uses := 2*used[times[t].name] + used[c]
			if fits(&times[t], c) && (when == nil || uses < 2*used[when.name]+used[client]) {
				when, client = &times[t], c
			}
		}
	}
	if when != nil {
		used[when.name]++
		used[client]++
	}
	return when, client
}

// cleanFlows returns test sessions (flows) in which an agent stores a text of its own, without reading a text by
// others. For each way of storing a text, it returns flows for at most two clients. These flows show that each way
// works and that its text is shown. The flows have ascending numbers, beginning with the parameter from. Numbers whose
// text looks like instructions are skipped.
func cleanFlows(clients []*agentClient, from int) (all []*poisonFlow) {
	keeps, times := keepings(), timings()
	for k := range keeps {
		users := 0
		for i := range clients {
			c := clients[(i+2*k)%len(clients)]
			if users == 2 || !keeps[k].isFor(c) {
				continue
			}
			users++
			for formOf(from).isOrder {
				from++
			}
			f := &poisonFlow{n: from, keep: &keeps[k], when: &times[0], client: c, flowText: textOf(from)}
			f.said = f.text
			all = append(all, f)
			from++
		}
	}
	return all
}

// openFlows returns flows of attacks that are not prevented. It returns up to as many flows of each class for each
// client as the parameter some says. The flows are numbered from the parameter from. The test reports these flows, but
// does not count them.
func openFlows(clients []*agentClient, from, some int) (all []*poisonFlow) {
	keeps, times := keepings(), timings()
	tracked := fileWay("tracked file", useRead, "docs/%s.md", func(h *poisonHome, path, text string) {
		h.putFile(path, text)
		h.git("add", path)
	})
	told := wayIn{name: "web page", use: useFind, arg: addressOf}
	for _, c := range clients {
		for _, class := range []string{"typed or pasted by the person", "read in a tracked file", "in other words"} {
			for range some {
				for formOf(from).isOrder {
					from++
				}
				f := &poisonFlow{n: from, keep: &keeps[0], when: &times[0], client: c, flowText: textOf(from),
					class: class}
				f.said = f.text
				switch class {
				case "read in a tracked file":
					f.way = &tracked
				case "in other words":
					f.way, f.said = &told, f.retold
				}
				if f.way != nil && !fits(f.way, f.keep, f.when, c) {
					continue
				}
				all = append(all, f)
				from++
			}
		}
	}
	return all
}

// runFlow runs a flow. If the text of the flow can only be shown in the next session, runFlow also starts this
// session.
func (h *poisonHome) runFlow(f *poisonFlow) {
	h.flow = f // The commands of the flow record their output here.
	f.when.run(h, f)
	h.flow = nil
	switch f.keep.at {
	case inHandoffs:
		s := h.session(h.nextClient(f.client))
		s.start("startup")
		h.noteAsked("handoff take", s.unreported(true, "", "handoff", "take"))
		h.noteAsked("prompt /handoff", strings.Join(h.requests(s.client, "prompts/get", object{"name": "handoff"}), ""))
	case beforeEdits:
		s := h.session(h.clients[0])
		s.prompt("Go on with the work.")
		if strings.Contains(f.keep.name, "error") {
			s.fails("go test ./"+f.name(), "error: "+onOneLine(f.said))
		}
		s.beforeEdit(f)
		s.stop("Done.")
	}
}

// askAll sends the prompt of each flow in a new session of a client, because a hook could show the text of the flow to
// the model. It then records the texts that the memory shows to a model on other occasions, for example at the start of
// a session. Finally, it asks the tool recall for the secrets of each flow and stores the answer in its field asked.
func (h *poisonHome) askAll(flows []*poisonFlow) {
	h.asPerson("inject", "calibrate the floor") // A hook would have less time for this.
	for i, f := range flows {
		s := h.session(h.clients[i%len(h.clients)])
		s.start("startup")
		s.prompt(f.prompt)
	}
	for _, c := range h.clients {
		s := h.session(c)
		s.start("startup")
		s.prompt("What do we know here?")
		s.start("resume")
		s.start("compact")
		s.prompt("And what else?")
	}
	h.note("oxbow context", h.must(h.t, "context"))
	h.note("oxbow spawn", h.must(h.t, "spawn", "helper", "Look around.", "--profile", "work", "--briefing"))
	c := h.clients[0]
	h.note("prompt /context", strings.Join(h.requests(c, "prompts/get", object{"name": "context"}), ""))
	h.note("prompts", strings.Join(h.requests(c, "prompts/list", object{}), ""))
	h.note("tools", strings.Join(h.requests(c, "tools/list", object{}), ""))
	h.noteResources(h.requests(c, "resources/list", object{})[0])
	h.note("resource context", strings.Join(h.requests(c, "resources/read", object{"uri": "memory://context"}), ""))
	h.note(
		"load_memory_profile",
		strings.Join(h.ask(c, object{"name": "load_memory_profile", "arguments": object{"name": "work"}}), ""),
	)
	var calls []object
	for _, f := range flows {
		calls = append(
			calls,
			object{
				"name":      "recall",
				"arguments": object{"query": strings.Join(f.secrets, " "), "in": "both", "limit": 8},
			},
		)
	}
	for i, answer := range h.ask(c, calls...) {
		flows[i].asked = answer
	}
}

// cameUp returns, for each flow, the places at which a secret of the flow was shown to a model without a request. A
// place is left out if the text is marked there, as isMarkedFor reports.
func (h *poisonHome) cameUp(flows []*poisonFlow) map[*poisonFlow][]broughtUp {
	of := map[string]*poisonFlow{}
	for _, f := range flows {
		for _, s := range f.secrets {
			of[strings.ToLower(s)] = f
		}
	}
	found := map[*poisonFlow][]broughtUp{}
	for _, s := range h.shown {
		for _, word := range wordsShown(s.text) {
			if f := of[word]; f != nil && !slices.Contains(found[f], s) && !s.isMarkedFor(f) {
				found[f] = append(found[f], s)
			}
		}
	}
	return found
}

// isMarkedFor reports whether the text with the flow's secret is marked as foreign, if a mark is enough there to allow
// showing it. A mark is enough for results that an agent asked for, and for the document that a home shows at each
// session start.
func (s *broughtUp) isMarkedFor(f *poisonFlow) bool {
	if f.keep.at == inStartBlock {
		before, _, _ := strings.Cut(strings.ToLower(s.text), strings.ToLower(f.secrets[0]))
		return strings.Contains(before, documentMark)
	}
	return s.wasAskedFor && isMarked(s.text)
}

// repeatsText reports whether a text contains a secret of the flow.
func (f *poisonFlow) repeatsText(text string) bool {
	words := wordsShown(text)
	return slices.ContainsFunc(f.secrets, func(s string) bool { return slices.Contains(words, strings.ToLower(s)) })
}

// marks contains the beginnings of warnings that oxbow prints before a text. The warnings say that no trusted author
// confirmed the text, or that a document repeats foreign text.
var marks = []string{"tainted: ", "unvouched: ", "imported: ", "quarantined: ", "in quarantine"}

const documentMark = "and no person has vouched for it"

// isMarked reports whether a line of the text begins with one of the strings in marks.
func isMarked(text string) bool {
	return slices.ContainsFunc(marks, func(m string) bool {
		return strings.HasPrefix(text, m) || strings.Contains(text, "\n"+m) || strings.Contains(text, `\n`+m)
	})
}

// unmarked examines the hits in f.asked that contain a secret of the flow's text. It returns those hits that have no
// mark, which is a line that says that nobody vouches for the text. It also returns the number of hits that have a
// mark. Other hits are ignored.
func (f *poisonFlow) unmarked() (hits []string, marked int) {
	for _, hit := range hitsOf(f.asked) {
		switch {
		case !f.repeatsText(hit):
		case isMarked(hit):
			marked++
		default:
			hits = append(hits, hit)
		}
	}
	return hits, marked
}

// flowCounts contains the numbers that the test of memory poisoning reports. A flow is a scenario in which an agent
// reads a text and stores it. A clean flow is a flow without foreign text.
//
// The field flows is the number of flows with foreign text. The field up is the number of flows whose text was shown
// although nobody asked for it. Each flow is also counted by the outcome of a search for its text: found without a mark
// (unmarked), found with a mark (marked), refused when it was stored (refused), held back for approval (quarantined),
// or stored nowhere (nowhere). The field clean is the number of clean flows, and cleanUp is the number of clean flows
// whose text was shown.
type flowCounts struct {
	mu                                    sync.Mutex
	flows, up, unmarked                   int
	marked, refused, quarantined, nowhere int
	clean, cleanUp                        int
	byTime, byClient, byWay, byKeep       map[string]int
	// for each class that is not counted, the number of flows and the number of flows whose text was shown
	open map[string][2]int
	// For each way of storing from which no text is shown unless somebody asks: the number of clean flows, and the
	// number of clean flows whose text was shown.
	quiet map[string][2]int
}

func TestPoisonFlows(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short, as in the step with the race detector, the flows are left to the other runs")
	}
	testenv.SkipInShortMode(t)
	testenv.RequireProgram(t, "git", "apt-get install git")
	clients := agentClients()
	oneOf := 16 // With this value, each way to read a foreign text and each way to keep it is in some flow.
	if testenv.IsLongTestRun() {
		oneOf = testenv.RepeatCount(4, 1)
	}
	flows := poisonFlows(clients, oneOf)
	apart(t, flows)
	counts := flowCounts{byTime: map[string]int{}, byClient: map[string]int{}, byWay: map[string]int{},
		byKeep: map[string]int{}, open: map[string][2]int{}, quiet: map[string][2]int{}}
	clean := cleanFlows(clients, len(flows))
	open := openFlows(clients, len(flows)+2*len(clean), testenv.RepeatCount(1, 9))
	t.Run("client", func(t *testing.T) {
		for _, c := range clients {
			of := func(all []*poisonFlow) []*poisonFlow {
				return slices.DeleteFunc(slices.Clone(all), func(f *poisonFlow) bool { return f.client.name != c.name })
			}
			mine := of(flows)
			cleanOnes := of(clean)
			openOnes := of(open)
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				testPoisonFlows(t, mine, cleanOnes, openOnes, &counts)
			})
		}
	})
	counts.report(t, 1200/oneOf)
}

// report logs the counts of all flows. In a flow, an agent reads a foreign text and stores it. report checks that the
// number of flows is not below the argument least. It also checks that each way to read a text and each way to store a
// text was used in a flow. Nine of ten texts from agents without foreign reading must have been shown. Otherwise it
// would prove nothing that the foreign texts are not shown.
func (n *flowCounts) report(t *testing.T, least int) {
	t.Helper()
	t.Logf("%d flows: %d came up by themselves, %d were found without a mark", n.flows, n.up, n.unmarked)
	t.Logf(
		"of them %d were found with a mark, %d refused, %d in quarantine, %d kept nowhere",
		n.marked,
		n.refused,
		n.quarantined,
		n.nowhere,
	)
	t.Logf("by time %v; by client %v", n.byTime, n.byClient)
	t.Logf("by way in %v; by way of keeping %v", n.byWay, n.byKeep)
	t.Logf("without foreign reading %d of %d came up", n.cleanUp, n.clean)
	t.Logf(
		"not counted, flows and how many came up: %v; ways of keeping from which nothing comes up: %v",
		n.open,
		n.quiet,
	)
	if n.flows < least {
		t.Errorf("%d flows, want %d and more", n.flows, least)
	}
	for _, w := range waysIn() {
		if n.byWay[w.name] == 0 {
			t.Errorf("no flow reads %s", w.name)
		}
	}
	for _, k := range keepings() {
		if n.byKeep[k.name] == 0 {
			t.Errorf("no flow keeps %s", k.name)
		}
	}
	if n.cleanUp*10 < n.clean*9 {
		t.Errorf("without foreign reading %d of %d came up, want nine of ten", n.cleanUp, n.clean)
	}
}

func testPoisonFlows(t *testing.T, flows, clean, open []*poisonFlow, counts *flowCounts) {
	h := newPoisonHome(t)
	all := slices.Concat(flows, clean, open)
	for _, f := range all {
		h.runFlow(f)
	}
	h.askAll(all)
	up, held := h.cameUp(all), h.asPerson("approve", "--json")
	counts.mu.Lock()
	defer counts.mu.Unlock()
	for _, f := range flows {
		counts.count(t, f, up[f], held)
	}
	for _, f := range clean {
		if f.keep.isQuiet {
			n := counts.quiet[f.keep.name]
			counts.quiet[f.keep.name] = [2]int{n[0] + 1, n[1] + min(1, len(up[f]))}
			continue
		}
		counts.clean++
		counts.cleanUp += min(1, len(up[f]))
		if len(up[f]) == 0 {
			t.Logf("%v: %q did not come up for %q: %s", f, f.said, f.prompt, f.out)
		}
	}
	for _, f := range open {
		n := counts.open[f.class]
		counts.open[f.class] = [2]int{n[0] + 1, n[1] + min(1, len(up[f]))}
	}
	h.must(t, "check")
}

// count counts the flow f, in which an agent reads a foreign text and stores it. It checks that the text was not shown
// to an agent that did not ask for it. It also checks that a search did not return the text without a mark as
// untrusted. The argument held contains the texts in quarantine. If f.keep stores the text as a note or handoff, count
// checks that the text was stored, refused or put in quarantine.
func (n *flowCounts) count(t *testing.T, f *poisonFlow, shown []broughtUp, held string) {
	t.Helper()
	n.flows++
	n.byTime[f.when.name]++
	n.byClient[f.client.name]++
	n.byWay[f.way.name]++
	n.byKeep[f.keep.name]++
	if len(shown) > 0 {
		n.up++
		t.Errorf("%v: %q came up by itself at %s: %s", f, f.said, shown[0].at, shown[0].text)
	}
	hits, marked := f.unmarked()
	switch {
	case len(hits) > 0:
		n.unmarked++
		t.Errorf("%v: %q is found without a mark: %s", f, f.said, hits[0])
	case marked > 0:
		n.marked++
	case strings.Contains(f.out, "repeats what others wrote"):
		n.refused++
	case f.repeatsText(held):
		n.quarantined++
	default:
		n.nowhere++
		if f.keep.at == inNotes || f.keep.at == inHandoffs {
			t.Errorf(
				"%v: %q was not kept, so that the flow shows nothing: %s; recall says %s",
				f,
				f.said,
				f.out,
				f.asked,
			)
		}
	}
}

// runWords is a number of consecutive words. One text repeats another text if the two texts have at least this number
// of consecutive words in common.
const runWords = 6

// apart fails the test if the texts of two flows have runWords consecutive words in common. Otherwise, oxbow could
// recognize the text of one flow as foreign because of the other flow.
func apart(t *testing.T, flows []*poisonFlow) {
	t.Helper()
	of := map[string]*poisonFlow{}
	for _, f := range flows {
		words := wordsShown(f.text)
		for i := range words {
			run := strings.Join(words[i:min(i+runWords, len(words))], " ")
			if other := of[run]; other != nil && other != f && i+runWords <= len(words) {
				t.Fatalf("%v and %v both say %q", f, other, run)
			}
			of[run] = f
		}
	}
}
