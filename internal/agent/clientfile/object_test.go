// This file compares the decoder with encoding/json.

package clientfile

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

type sample struct {
	Text   string          `json:"text"`
	On     bool            `json:"on"`
	Exit   *int            `json:"exit"`
	Raw    json.RawMessage `json:"raw"`
	Inner  struct{ A, B string }
	Blocks []claudeBlock `json:"blocks,omitempty"`
	Part   *struct {
		Text string `json:"text"`
	} `json:"part"`
}

// FuzzDecode tests that valid JSON is decoded with the same result as by encoding/json. Other input must not cause a
// panic.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"text":"a\u00e9\ud83d\ude00\ud83d \u001b[1m\"\\\/","on":true,"exit":-3,"raw":[1,{"x":"]"}],"blocks":[{"type":"text","text":"t"},{"id":"\n"}],"part":{"text":"p"}}`,
		`{"text":null,"on":null,"exit":null,"blocks":null,"part":null}`, `{"text":7,"exit":"x","blocks":{},"part":[]}`,
		` { "text" : "a" , "exit" : 1e2 } `,
		`{"text":"\q"}`, `{"text":"\u12"}`, `{"text":"a`, `{"blocks":[{"type":"a"},`, "{\"text\":\"\xff\"}", `[]`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, want sample
		DecodeObject(b, &got)
		// Skip input that is not valid JSON or that contains upper-case letters, because encoding/json ignores the case
		// of keys. Marshaling the map known also removes repeated keys, which encoding/json treats differently.
		all, known := map[string]json.RawMessage{}, map[string]json.RawMessage{}
		if !utf8.Valid(b) || !bytes.Equal(b, bytes.ToLower(b)) || json.Unmarshal(b, &all) != nil {
			return
		}
		for _, k := range []string{"text", "on", "exit", "raw", "blocks", "part"} {
			if v, ok := all[k]; ok {
				known[k] = v
			}
		}
		b = mustJSON(t, known)
		if json.Unmarshal(b, &want) != nil {
			return
		}
		got = sample{}
		if !DecodeObject(b, &got) {
			t.Fatalf("%q is not read", b)
		}
		got.Raw, want.Raw = bytes.TrimSpace(got.Raw), bytes.TrimSpace(want.Raw)
		if g, w := mustJSON(t, got), mustJSON(t, want); !bytes.Equal(g, w) {
			t.Errorf("%q is %s, want %s", b, g, w)
		}
	})
}

func mustJSON(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSpace(t *testing.T) {
	var got sample
	if !DecodeObject([]byte("{\n \"on\" : true , \"exit\": -3\n, \"part\": { \"text\":\"a\" } }"), &got) || !got.On ||
		got.Exit == nil || *got.Exit != -3 || got.Part == nil || got.Part.Text != "a" {
		t.Errorf("with space between it is %+v", got)
	}
}
