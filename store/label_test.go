// This file tests labels: which are valid, how they are written, and how they are sorted.

package store_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/store"
)

func TestLabelCheck(t *testing.T) {
	for _, l := range []store.Label{
		{Key: "project", Value: "vtt"},
		{Key: "a", Value: "x"},
		{Key: "due-date_2", Value: "soon"},
		{Key: strings.Repeat("k", 64), Value: "x"},
		{Key: "tag", Value: strings.Repeat("x", store.MaxName)},
		{Key: "tag", Value: `all of " , \ : = * in one`},
		{Key: "tag", Value: "日本 🦀"},
		{Key: "type", Value: "bug"}, // In a filter, this key must be in quotes.
		{Key: "confidence", Value: "0"},
		{Key: "confidence", Value: "1"},
		{Key: "confidence", Value: "0.25"},
	} {
		if err := l.Check(); err != nil {
			t.Errorf("Check of %v = %v, want nil", l, err)
		}
	}
	for _, tc := range []struct {
		l    store.Label
		want string
	}{
		{store.Label{Value: "x"}, `label key is not a lower-case letter`},
		{store.Label{Key: "Tag", Value: "x"}, `label key "Tag" is not a lower-case letter`},
		{store.Label{Key: "9lives", Value: "x"}, `is not a lower-case letter followed by`},
		{store.Label{Key: "-x", Value: "x"}, `is not a lower-case letter followed by`},
		{store.Label{Key: "a b", Value: "x"}, `is not a lower-case letter followed by`},
		{store.Label{Key: "a:b", Value: "x"}, `is not a lower-case letter followed by`},
		{store.Label{Key: "été", Value: "x"}, `is not a lower-case letter followed by`},
		{store.Label{Key: strings.Repeat("k", 65), Value: "x"}, `(at most 64)`},
		{store.Label{Key: "tag"}, `label tag is empty`},
		{store.Label{Key: "tag", Value: " x"}, `label tag " x" begins or ends with white space`},
		{store.Label{Key: "tag", Value: "a\nb"}, `holds a control character at byte 1`},
		{store.Label{Key: "tag", Value: "a\xff"}, `is not UTF-8`},
		{store.Label{Key: "tag", Value: strings.Repeat("x", store.MaxName+1)}, `has 257 bytes; the most is 256`},
		{store.Label{Key: "confidence", Value: "-0.1"}, `confidence "-0.1" is not a number from 0 to 1`},
		{store.Label{Key: "confidence", Value: "1.01"}, `is not a number from 0 to 1`},
		{store.Label{Key: "confidence", Value: "NaN"}, `is not a number from 0 to 1`},
		{store.Label{Key: "confidence", Value: "0x1p-2"}, `is not a number from 0 to 1`},
		{store.Label{Key: "confidence", Value: "sure"}, `is not a number from 0 to 1`},
	} {
		err := tc.l.Check()
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Check of %q, %q = %v, want an error with %q", tc.l.Key, tc.l.Value, err, tc.want)
		}
	}
	// The filter language reserves these words.
	for _, key := range []string{"kind", "name", "by", "door", "after", "before", "on", "id", "has", "trust"} {
		if err := (store.Label{Key: key, Value: "x"}).Check(); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("Check of %s:x = %v, want ErrInvalid", key, err)
		}
	}
}

// TestLabelString tests that ParseLabel parses the text of a label, and that this text is a filter that selects the
// entries with the label.
func TestLabelString(t *testing.T) {
	for _, tc := range []struct {
		l    store.Label
		want string
	}{
		{store.Label{Key: "project", Value: "vtt"}, `project:vtt`},
		{store.Label{Key: "customer", Value: "acme"}, `customer:acme`},
		{store.Label{Key: "tag", Value: "two words"}, `tag:"two words"`},
		{store.Label{Key: "tag", Value: "a,b"}, `tag:"a,b"`},
		{store.Label{Key: "tag", Value: `5"`}, `tag:"5\""`},
		{store.Label{Key: "file", Value: `a\b`}, `file:"a\\b"`},
		{store.Label{Key: "file", Value: "a:b"}, `file:a:b`},
		{store.Label{Key: "tag", Value: "été"}, `tag:été`},
		{store.Label{Key: "tag", Value: "soft\u00adhyphen"}, `tag:"soft\u00adhyphen"`},
		{store.Label{Key: "type", Value: "bug"}, `type:bug`},
		{store.Label{Key: "tax", Value: "v a t"}, `tax:"v a t"`},
		{store.Confidence(0.5), `confidence:0.5`},
		{store.Confidence(1e-9), `confidence:0.000000001`},
	} {
		got := tc.l.String()
		if got != tc.want {
			t.Errorf("Label{%q, %q}.String() = %s, want %s", tc.l.Key, tc.l.Value, got, tc.want)
		}
		if back, err := store.ParseLabel(got); err != nil || back != tc.l {
			t.Errorf("ParseLabel(%q) = %q, %q, %v, want %q, %q", got, back.Key, back.Value, err, tc.l.Key, tc.l.Value)
		}
		key, value, _ := strings.Cut(got, ":")
		got = strconv.Quote(key) + ":" + value // Quote the key, so that it is not read as another key.
		if back, err := store.ParseLabel(got); err != nil || back != tc.l {
			t.Errorf("ParseLabel(%q) = %q, %q, %v, want %q, %q", got, back.Key, back.Value, err, tc.l.Key, tc.l.Value)
		}
		f, err := query.ParseFilter(got, noon)
		if err != nil || !f.Match(&store.Entry{Labels: []store.Label{tc.l}}) || f.Match(&store.Entry{}) {
			t.Errorf(
				"ParseFilter(%q) = %+v, %v, want a filter that selects what carries the label and nothing else",
				got,
				f,
				err,
			)
		}
	}
}

func TestParseLabelRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":           `label has no colon; write key:value`,
		"tag":        `label "tag" has no colon; write key:value`,
		"tag:":       `label tag is empty`,
		`tag:""`:     `label tag is empty`,
		":x":         `label key is not a lower-case letter`,
		`tag:"a`:     `label "tag:\"a" has an unclosed or badly escaped quote`,
		`tag:"a"b`:   `unclosed or badly escaped quote`,
		`tag:"a\q"`:  `unclosed or badly escaped quote`,
		`"tag:a`:     `unclosed or badly escaped quote`,
		"kind:note":  `label key "kind" is a word of the filter language; choose another`,
		`"on":x`:     `is a word of the filter language`,
		"Tag:x":      `label key "Tag" is not a lower-case letter`,
		"tag: x":     `begins or ends with white space`,
		"tag:a\x00b": `control character`,
	} {
		if l, err := store.ParseLabel(in); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseLabel(%q) = %v, %v, want an error with %q", in, l, err, want)
		}
	}
}

func TestConfidence(t *testing.T) {
	for _, f := range []float64{0, 1, 0.1, 1.0 / 3, math.SmallestNonzeroFloat64, math.Nextafter(1, 0)} {
		l := store.Confidence(f)
		got, ok := store.Entry{Labels: []store.Label{l}}.Confidence()
		if !ok || got != f {
			t.Errorf("Confidence of an entry with %v = %v, %v", l, got, ok)
		}
	}
	for _, f := range []float64{-0.5, 1.5, math.NaN(), math.Inf(1)} {
		if err := store.Confidence(f).Check(); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("Check of Confidence(%v) = %v, want ErrInvalid", f, err)
		}
	}
}

func TestSortLabels(t *testing.T) {
	given := []store.Label{
		{Key: "tag", Value: "b"},
		{Key: "project", Value: "z"},
		{Key: "tag", Value: "a"},
		{Key: "tag", Value: "b"},
	}
	before := slices.Clone(given)
	want := []store.Label{{Key: "project", Value: "z"}, {Key: "tag", Value: "a"}, {Key: "tag", Value: "b"}}
	got := store.SortLabels(given)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("SortLabels(%v) = %v, want %v", given, got, want)
	}
	got[0].Value = "changed"
	if !reflect.DeepEqual(given, before) {
		t.Errorf("SortLabels changed its argument to %v, want %v", given, before)
	}
	if got := store.SortLabels([]store.Label{}); got != nil {
		t.Errorf("SortLabels of none = %v, want nil", got)
	}
}

// TestLabelsOfOneEntry tests the rules for all labels of an entry together.
func TestLabelsOfOneEntry(t *testing.T) {
	many := make([]store.Label, store.MaxLabels+1)
	for i := range many {
		many[i] = store.Label{Key: "tag", Value: strconv.Itoa(i)}
	}
	if err := (store.Relabel{Name: "x", Labels: many[1:]}).Check(); err != nil {
		t.Errorf("Check of %d labels = %v, want nil", store.MaxLabels, err)
	}
	for _, tc := range []struct {
		labels []store.Label
		want   string
	}{
		{many, `labels "257" are more than the 256 that one entry may carry`},
		{[]store.Label{store.Confidence(0.5), store.Confidence(0.6)}, `confidence is given more than once`},
		{[]store.Label{{Key: "tag", Value: "x"}, {Key: "kind", Value: "note"}}, `is a word of the filter language`},
	} {
		for _, op := range []store.Op{
			store.Add{Name: "x", Labels: tc.labels},
			store.Update{Name: "x", Labels: tc.labels},
			store.Relabel{Name: "x", Labels: tc.labels},
		} {
			if err := op.Check(); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Check of %T = %v, want an error with %q", op, err, tc.want)
			}
		}
	}
}
