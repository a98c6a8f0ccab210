// This file tests the default ranking of a memory: fields, operators, misspelled words, dates, and messages of a
// conversation. It also tests the explanations of scores.

package oxbow_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// filled returns a memory with entries of the form "name|content". Each entry is one minute newer than the entry before
// it.
func filled(t *testing.T, entries ...string) *oxbow.Memory {
	t.Helper()
	now := time.Date(2026, 4, 14, 9, 0, 0, 0, time.UTC)
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return now }})
	for _, e := range entries {
		name, content, _ := strings.Cut(e, "|")
		if err := m.Apply(t.Context(), oxbow.Add{Name: name, Content: content}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
	}
	return m
}

var askedAt = time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC) // a Saturday

// names recalls with the query words and returns the names of the hits in their order. It also tests that the
// explanation of each hit adds up to the hit's score.
func names(t *testing.T, m *oxbow.Memory, words, rank string) string {
	t.Helper()
	q, err := query.Parse(words, askedAt)
	if err != nil {
		t.Fatal(err)
	}
	q.Explain = true
	q.Rank = rank
	q.Limit = 20
	hits, err := m.Recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var ns []string
	for _, h := range hits {
		ns = append(ns, h.Entry.Name)
		if h.Score == 0 {
			continue // nothing to rank by
		}
		sum, fields := 0.0, 0.0
		for _, ts := range h.Explanation.Terms {
			sum += ts.Score
			for _, f := range ts.Fields {
				fields += f.Score
			}
		}
		if math.Abs(sum-h.Score) > 1e-9 || (rank != oxbow.RankSeed && math.Abs(fields-h.Score) > 1e-9) {
			t.Errorf(
				"%q: score of %s is %v, its terms sum to %v, its fields to %v",
				words,
				h.Entry.Name,
				h.Score,
				sum,
				fields,
			)
		}
	}
	return strings.Join(ns, " ")
}

// TestWordsOfOtherScripts tests that Recall finds words in scripts that do not separate words by spaces, such as Thai.
// It also tests emoji, and versions that are written with and without a v.
func TestWordsOfOtherScripts(t *testing.T) {
	m := filled(t,
		"thai|เรือจอดที่ท่าเรือทุกเช้า", // the boat moors at the harbor every morning
		"lao|ເຮືອຈອດຢູ່ທ່າເຮືອ",
		"khmer|ទូកចតនៅកំពង់ផែ",
		"burmese|သင်္ဘောသည်ဆိပ်ကမ်းတွင်ရပ်သည်",
		"javanese|ꦥꦿꦲꦸꦤꦺꦩꦤ꧀ꦝꦼꦒ꧀ꦲꦶꦁꦥꦭꦧꦸꦲꦤ꧀",
		"rocket|landed 🚀 to 🇩🇪",
		"heart|❤️ for the crew",
		"family|👨‍👩‍👧 on deck",
		"release|crane v2.10.3 and hoist 1.4.2-rc1",
	)
	for _, tt := range []struct{ name, query, want string }{
		{"a Thai word", "ท่าเรือ", "thai"},
		{"a Lao word", "ທ່າເຮືອ", "lao"},
		{"a Khmer word", "កំពង់ផែ", "khmer"},
		{"a Burmese word", "ဆိပ်ကမ်း", "burmese"},
		{"a Javanese word", "ꦥꦭꦧꦸꦲꦤ꧀", "javanese"},
		{"an emoji", "🚀", "rocket"},
		{"a flag", "🇩🇪", "rocket"},
		{"an emoji without its variant", "❤", "heart"},
		{"another emoji with a variant", "⚠️", ""},
		{"joined emoji", "👨‍👩‍👧", "family"},
		{"one of joined emoji", "👧", "family"},
		{"a version without its v", "2.10.3", "release"},
		{"a version with a v", "v1.4.2-rc1", "release"},
		{"the beginning of a version", "v2.10", "release"},
		{"the beginning of a version before a hyphen", "1.4.2", "release"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hits, err := m.Recall(t.Context(), oxbow.Query{Text: tt.query})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(hits) > 0 {
				got = hits[0].Entry.Name
			}
			if got != tt.want {
				t.Errorf("%q finds %q, want %q", tt.query, got, tt.want)
			}
		})
	}
}

func TestOxbowRanking(t *testing.T) {
	m := filled(t,
		"deploy|We ship on Tuesdays. See internal/near.go for getUserName.",
		"market|I bought rusty tools at the market",
		"chat|user: my bike is red\n\nassistant: a boat is blue",
		"boats|user: my boat is red\n\nassistant: a bike is blue",
		"tokyo|東京都の天気",
		"cafe|Café in Łódź, error-handling",
		"rust|memory lane is long and the lane is wide",
	)
	tests := []struct{ name, query, want string }{
		{"a stem", "shipping", "deploy"},
		{"an irregular form", "what did I buy", "market"},
		{"a part of an identifier", "user name", "deploy"},
		{"a whole identifier", "get_user_name", "deploy"},
		{"a file of a path", "near.go", "deploy"},
		{"a pair of characters", "天気", "tokyo"},
		{"no diacritics", "lodz", "cafe"},
		{"the name", "tokyo", "tokyo"},
		{"the user's words first", "bike", "chat boats"},
		{"a phrase", `"memory lane"`, "rust"},
		{"not a phrase", `"lane memory"`, ""},
		{"must", "red +boats", "boats chat"},
		{"must not", "red -lane -bought", "boats chat"},
		{"only must not", "-red -user -lane -ship", "cafe tokyo market"},
		{"a prefix", "err*", "cafe"},
		{"must begin so", "red +boa*", "boats chat"},
		{"must begin so alone", "+mem*", "rust"},
		{"must not begin so", "-bi* -lan* -shi*", "cafe tokyo market"},
		{"must and must not begin so", "+us* -boa*", "deploy"},
		{"no prefix in quotes", `"memo*"`, ""},
		{"an operator that is none", "--ship +1 **bought**", "market deploy"},
		{"a slip", "markte", "market"},
		{"stop words alone", "what is the", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Fields(names(t, m, tt.query, ""))
			want := strings.Fields(tt.want)
			if tt.name == "stop words alone" { // any entries may be found
				if len(got) == 0 {
					t.Errorf("%q found nothing", tt.query)
				}
				return
			}
			if tt.name != "the user's words first" { // order is the point only there
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q found %v, want %v", tt.query, got, want)
			}
		})
	}
}

// TestParseQueryAndDiagnosis tests that ParseQuery reports a spelling error that it corrected, and that Diagnose
// reports how many entries an operator such as "+nowhere" excludes. It also tests that unknown rankings are refused.
func TestParseQueryAndDiagnosis(t *testing.T) {
	m := filled(t, "a|the harbour office", "b|the harbour lights")
	q, err := query.Parse("harbuor +office last week", askedAt)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.ParseQuery(t.Context(), q)
	if err != nil || r.Rank != oxbow.RankOxbow || len(r.Dates) != 1 || r.Dates[0].Text != "last week" {
		t.Fatalf("ParseQuery = %+v, %v", r, err)
	}
	if i := slices.IndexFunc(r.Terms, func(t oxbow.ParsedTerm) bool {
		return t.Word == "harbuor"
	}); i < 0 || r.Terms[i].Term != "harbour" || !r.Terms[i].Corrected {
		t.Errorf("ParseQuery = %+v, want harbour instead of harbuor", r.Terms)
	}
	q, err = query.Parse("harbour +nowhere", askedAt)
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Diagnose(t.Context(), q)
	if err != nil || len(d.Removed) != 1 || d.Removed[0].String() != "+nowhere" || d.Removed[0].Left != 0 ||
		d.Unfiltered != 2 {
		t.Errorf("Diagnose = %+v, %v, want +nowhere to leave 0 of 2", d, err)
	}
	_, err = m.Recall(t.Context(), oxbow.Query{Text: "x", Rank: "best"})
	if !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Recall with an unknown rank: %v", err)
	}
	if _, err := oxbow.Open("m", &oxbow.Options{FS: vfs.NewMem(), Ranking: "best"}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Open with an unknown ranking: %v", err)
	}
}

// TestTurnsBeside tests entries that are turns of a conversation. A turn must also be found by the words of the
// question in the turn before it, and be ranked before this question. The explanation must report it. If a filter
// excludes the question, the turn must not be found by the question's words.
func TestTurnsBeside(t *testing.T) {
	m := filled(t,
		"t1|Ann: Where did you buy the violin?",
		"t2|Bob: In a little shop in Cremona.",
		"t3|Ann: Nice.",
		"n|A note about a violin that nobody said, and of a good many other things besides")
	if got := names(t, m, "buy violin", ""); got != "t2 t1 n t3" {
		t.Errorf("found %q, want t2, the answer, then t1", got)
	}
	q := oxbow.Query{Text: "buy violin", Explain: true, Limit: 10}
	hits, err := m.Recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(hits, func(h oxbow.Hit) bool { return h.Entry.Name == "t2" })
	if i < 0 || hits[i].Explanation.Terms[0].Fields[0].Field != "beside t1" {
		t.Fatalf("hits = %+v, want t2 by what stands beside", hits)
	}
	q.Filter = oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: []string{"t1"}, Not: true}}}
	hits, err = m.Recall(t.Context(), q)
	if err != nil || len(hits) != 1 || hits[0].Entry.Name != "n" {
		t.Errorf("without t1: %+v, %v, want only n", hits, err)
	}
}

// TestTurnsBesideOnly tests the rank of a conversation turn whose text contains no word of the query. The turn must
// come after the turns that contain the query's rarest word. If the turn answers a question with such a word, it must
// come first.
func TestTurnsBesideOnly(t *testing.T) {
	const query = "how long has it been since Nebraas had a nosebleed?"
	talk := []string{
		"t1|Emi: We talked about the garden.",
		"t2|Nebraas: The tomatoes are doing well.",
		"t3|Emi: My nosebleed is over, by the way.",
		"t4|Nebraas: I called out of work today because of a stomach ache.",
		"t5|Emi: Get well soon.",
		"t6|Nebraas: Thank you.",
		"t7|Emi: The kitchen is painted.",
		"t8|Nebraas: It looks good.",
		"t9|Emi: It does.",
		"t10|Nebraas: Let us see the cinema.",
		"t11|Emi: I haven't had a nosebleed since middle school, and I hope it stays so for all of my life.",
	}
	got := names(t, filled(t, talk...), query, oxbow.RankOxbow)
	if first, last := strings.Index(got, "t4"), strings.Index(got, "t11"); first < last || last < 0 {
		t.Errorf("%q finds %s; want t3 and t11 before t4", query, got)
	}
	talk[2] = "t3|Emi: Did you have a nosebleed?"
	got = names(t, filled(t, talk...), query, oxbow.RankOxbow)
	if !strings.HasPrefix(got, "t4 ") {
		t.Errorf("%q finds %s; want the answer t4 first", query, got)
	}
}

// TestTurnsBesideAddUp tests the score of a turn, which is one message of a conversation. A word in the neighboring
// turns increases the score. If both neighbors contain the word, the score must be higher than with one neighbor, and
// the explanation of the hit must name both neighbors.
func TestTurnsBesideAddUp(t *testing.T) {
	entries := []string{"a1|Ann: The violin is here.", "a2|Bob: So it is."}
	for i := range 6 { // so that one talk is not beside the other
		entries = append(entries, "x"+strconv.Itoa(i)+"|user: something between")
	}
	m := filled(
		t,
		append(entries, "b1|Ann: The violin is here.", "b2|Bob: So it is.", "b3|Ann: The violin is here.")...,
	)
	names(t, m, "violin", "") // also compares each score with its explanation
	found := map[string]oxbow.Hit{}
	hits, err := m.Recall(t.Context(), oxbow.Query{Text: "violin", Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		found[h.Entry.Name] = h
	}
	one, two := found["a2"], found["b2"]
	if two.Explanation == nil {
		t.Fatalf("found %+v, want b2 among them", hits)
	}
	if !(one.Score > 0 && one.Score < two.Score && two.Score < 1.1*one.Score) {
		t.Errorf("next to one it has %v, next to two %v, want a little more", one.Score, two.Score)
	}
	fs := two.Explanation.Terms[0].Fields
	if len(fs) != 2 || fs[0].Field != "beside b1" || fs[1].Field != "beside b3" || fs[0].Score <= fs[1].Score {
		t.Errorf("it has its score from %+v, want b1, and less b3", fs)
	}
}

// TestTurnsOfWhom tests the order of turns (messages of a conversation) that have similar words. The turns of the
// speaker whom the query names come first. If the query asks for a time, a turn that mentions a time comes before
// others. A turn that is a question comes after the other turns of its speaker. The function [names] checks that each
// score agrees with its explanation.
func TestTurnsOfWhom(t *testing.T) {
	var entries []string
	for i, said := range []string{
		"Ann: A sailing trip is fun.",
		"Bob: A sailing trip is fun.",
		"Bob: A sailing trip was yesterday.",
		"Bob: A sailing trip was fun?",
	} {
		entries = append(entries, "s"+strconv.Itoa(i+1)+"|"+said)
		for j := range 5 { // other turns in between, because adjacent turns change each other's scores
			entries = append(entries, "x"+strconv.Itoa(10*i+j)+"|user: something between")
		}
	}
	m := filled(t, entries...)
	for query, want := range map[string]string{
		"trip Bob":            "s3 s2 s4 s1",
		"Ann's sailing trip":  "s1 s3 s2 s4",
		"when was the trip":   "s3 s2 s1 s4",
		"what year, the trip": "s3 s2 s1 s4",
	} {
		if got := names(t, m, query, ""); got != want {
			t.Errorf("%q found %q, want %q", query, got, want)
		}
	}
	hits, err := m.Recall(t.Context(), oxbow.Query{Text: "when was Bob's trip", Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"speaker, the name of who speaks, who speaks, it tells when",
		"body, who speaks, it tells when",
	} {
		var fields []string
		for _, f := range hits[0].Explanation.Terms[i].Fields {
			fields = append(fields, f.Field)
		}
		if got := strings.Join(fields, ", "); hits[0].Entry.Name != "s3" || got != want {
			t.Errorf("%s has its score from %q, want %q", hits[0].Entry.Name, got, want)
		}
	}
	if fs := hits[0].Explanation.Terms[0].Fields; fs[1].Score != -fs[0].Score/2 {
		t.Errorf("the name gives %v and loses %v, want half", fs[0].Score, fs[1].Score)
	}
}

// TestCommonWordsOfChats tests that a common English word has a lower score in a chat between a user and an assistant.
// In a conversation between people and in a note, the score of such a word must not be reduced. The score of a rare
// word must not be reduced either.
func TestCommonWordsOfChats(t *testing.T) {
	m := filled(t,
		"chat|user: I need help in Cremona.\n\nassistant: There is help.",
		"talk|Ann: I need help in Cremona.\n\nBob: There is help.\n\nAnn: Good.",
		"note|They need help in Cremona, and there is help")
	names(t, m, "help Cremona", "") // compares each score with its account
	hits, err := m.Recall(t.Context(), oxbow.Query{Text: "help Cremona", Explain: true})
	if err != nil || len(hits) != 3 {
		t.Fatalf("%+v, %v", hits, err)
	}
	for _, h := range hits {
		for _, term := range h.Explanation.Terms {
			i := slices.IndexFunc(term.Fields, func(f oxbow.FieldScore) bool { return f.Field == "how common it is" })
			if want := h.Entry.Name == "chat" && term.Term == "help"; (i >= 0) != want ||
				(want && term.Fields[i].Score >= 0) {
				t.Errorf("%s has of %s %+v", h.Entry.Name, term.Term, term.Fields)
			}
		}
	}
}

// TestRepeatedWords tests the weight of a word that occurs three times in a query. In a short query, the weight is √3.
// In a long query, the weight is 3.
func TestRepeatedWords(t *testing.T) {
	m := filled(t, "n|the harbour lamp")
	long := "lamp lamp lamp"
	for i := range 19 {
		long += " word" + strconv.Itoa(i)
	}
	for query, want := range map[string]float64{"lamp lamp lamp": math.Sqrt(3), long: 3} {
		hits, err := m.Recall(t.Context(), oxbow.Query{Text: query, Explain: true})
		if err != nil || len(hits) != 1 {
			t.Fatalf("%q: %+v, %v", query, hits, err)
		}
		terms := hits[0].Explanation.Terms
		i := slices.IndexFunc(terms, func(s oxbow.TermScore) bool { return s.Term == "lamp" })
		if i < 0 || terms[i].Weight != want {
			t.Errorf("%q has the terms %+v, want lamp to weigh %v", query, terms, want)
		}
	}
}

// TestTurnsOfPrograms tests that a program's turn has 70 % of its usual score, unless the query asks for the program's
// words, as in "your harbour lamp".
func TestTurnsOfPrograms(t *testing.T) {
	m := filled(t,
		"p|assistant: You should try the harbour lamp.",
		"u|user: I should try the harbour lamp, and the one that stands next to it on the quay.",
		"x|user: Good.", "y|user: Better.")
	scores := map[string]float64{}
	for _, query := range []string{"harbour lamp", "your harbour lamp"} {
		if got := names(t, m, query, ""); got != "u p" {
			t.Errorf("%q found %q, want u p", query, got)
		}
		hits, err := m.Recall(t.Context(), oxbow.Query{Text: query})
		if err != nil || len(hits) != 2 {
			t.Fatalf("%q: %+v, %v", query, hits, err)
		}
		scores[query] = hits[1].Score / hits[0].Score
	}
	if less := scores["harbour lamp"] / scores["your harbour lamp"]; math.Abs(less-.7) > 1e-9 {
		t.Errorf("unless it is asked for, the program's turn has %v of its score, want .7", less)
	}
}

// TestBestStretch tests two dialogues that contain the same words of the query. The dialogue in which the words are
// close together must come first. The explanation of its score must contain the field "best stretch" for the part of
// the text with the most words of the query.
func TestBestStretch(t *testing.T) {
	filler := strings.Repeat("and so on it went for long ", 10)
	m := filled(t,
		"far|Ann: The violin broke.\n\nBob: "+filler+"\n\nAnn: Then a shop.\n\nBob: "+filler+"\n\nAnn: In Cremona.",
		"near|Ann: The violin is of a shop in Cremona.\n\nBob: "+filler+"\n\nAnn: Yes then.\n\nBob: "+filler+
			"\n\nAnn: Gone by.",
	)
	if got := names(t, m, "violin shop Cremona", ""); got != "near far" {
		t.Errorf("found %q, want near before far", got)
	}
	hits, err := m.Recall(t.Context(), oxbow.Query{Text: "violin shop Cremona", Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	fs := hits[0].Explanation.Terms[0].Fields
	if last := fs[len(fs)-1]; last.Field != "best stretch" || last.Score <= 0 {
		t.Errorf("the fields are %+v, want the best stretch last", fs)
	}
}

// TestTurnsAccount tests that Recall returns the turns of conversations in the same order with a limit of 10 hits as
// with a limit of 20. The helper names also checks that the explanation of each hit adds up to its score.
func TestTurnsAccount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("boat tower week harbour yesterday Ann Bob trip ship sail buy lamp oil rope tide? moon?")
	some := func() string {
		var ws []string
		for range 1 + rng.IntN(6) {
			ws = append(ws, words[rng.IntN(len(words))])
		}
		return strings.Join(ws, " ")
	}
	var entries []string
	for i := range 300 {
		before := [...]string{"Ann: ", "Bob: ", "Ann Bo: ", "user: ", "", "assistant: "}[rng.IntN(6)]
		text := before + some()
		for before != "" && rng.IntN(8) == 0 { // a whole dialogue
			text += "\n\n" + [...]string{"Ann: ", "user: ", "assistant: "}[rng.IntN(3)] +
				strings.Repeat(some()+" so on ", 1+rng.IntN(20))
		}
		entries = append(entries, "e"+strconv.Itoa(i)+"|"+text)
	}
	m := filled(t, entries...)
	for range 100 {
		query := []string{"", "when "}[rng.IntN(2)] + some()
		all := strings.Fields(names(t, m, query, ""))
		hits, err := m.Recall(t.Context(), oxbow.Query{Text: query, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hits {
			if h.Entry.Name != all[i] {
				t.Fatalf("%q: hit %d of 10 is %s, of 20 %s", query, i, h.Entry.Name, all[i])
			}
		}
	}
}

// TestDatesBoost tests dates in a query. A date in the text, such as "last week", moves entries from this time up, and
// excludes no entry. The filters on:, date: and after: exclude all entries from other times.
func TestDatesBoost(t *testing.T) {
	day := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return day }})
	for _, name := range []string{"first", "second", "third"} {
		if err := m.Apply(t.Context(), oxbow.Add{Name: name, Content: "walked the dog", Created: day}); err != nil {
			t.Fatal(err)
		}
		day = day.AddDate(0, 0, 7)
	}
	for query, want := range map[string]string{
		"dog":                             "third second first",
		"dog last week":                   "second third first", // 6 to 12 April
		"dog 2026-04-01":                  "first third second",
		"dog in May 2023":                 "third second first",
		"dog on:yesterday":                "",
		`dog on:"last week"`:              "second",
		"dog date:2026-04-01..2026-04-08": "second first",
		`dog after:"last week"`:           "third second",
	} {
		if got := names(t, m, query, ""); got != want {
			t.Errorf("%q found %q, want %q", query, got, want)
		}
	}
}

// TestSeedVectors tests that a memory with the ranking RankSeed returns the hits and scores that crabtalk returned.
func TestSeedVectors(t *testing.T) {
	b, err := os.ReadFile("internal/search/index/testdata/crabtalk-search.json")
	if err != nil {
		t.Fatal(err)
	}
	var steps []struct {
		Op struct {
			Op, Name, Content, Query, Kind string
			Aliases                        []string
			Limit                          int
		}
		Result struct {
			Hits []struct {
				Name  string
				Score float64
			}
		}
	}
	if err := json.Unmarshal(b, &steps); err != nil {
		t.Fatal(err)
	}
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Ranking: oxbow.RankSeed})
	searched := 0
	for _, s := range steps {
		switch op := s.Op; op.Op {
		case "add", "remember":
			if op.Content == "" && len(op.Aliases) == 0 {
				continue // an entry without content and aliases cannot be found, and crabtalk does not count it
			}
			kind, err := oxbow.ParseKind(op.Kind)
			if err != nil {
				kind = oxbow.Note // topics are none of oxbow's kinds
			}
			_, err = m.Remember(
				t.Context(),
				oxbow.Entry{
					Name:    strconv.Quote(op.Name),
					Content: op.Content,
					Aliases: append([]string{}, op.Aliases...),
					Kind:    kind,
				},
			)
			if err != nil {
				t.Fatalf("remembering %q: %v", op.Name, err)
			}
		case "forget":
			if err := m.Forget(t.Context(), strconv.Quote(op.Name)); err != nil && !errors.Is(err, oxbow.ErrNotFound) {
				t.Fatal(err)
			}
		case "search":
			if op.Kind != "" || op.Limit < 1 || strings.TrimSpace(op.Query) == "" {
				continue
			}
			searched++
			got, err := m.Recall(t.Context(), oxbow.Query{Text: op.Query, Limit: op.Limit})
			if err != nil || len(got) != len(s.Result.Hits) {
				t.Errorf("Recall(%q) = %d hits, %v, want %d", op.Query, len(got), err, len(s.Result.Hits))
				continue
			}
			for i, w := range s.Result.Hits {
				if math.Abs(got[i].Score-w.Score) > 1e-12*w.Score {
					t.Errorf("Recall(%q): hit %d scores %v, want %v", op.Query, i, got[i].Score, w.Score)
				}
			}
		}
	}
	if searched < 10 {
		t.Errorf("only %d searches in the vectors", searched)
	}
}
