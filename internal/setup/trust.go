// Codex runs a hook only when its hash stands in config.toml. Codex writes it when
// a person says yes in /hooks; with the person's word setup writes the same.

package setup

import (
	"fmt"
	"strings"
	"unicode"
)

// longest are the seconds that Codex gives a hook at most, by event.
var longest = map[string]int{"SessionEnd": 3, "Interrupt": 3}

// trustedHash returns the hash by which Codex knows a handler: the SHA-256 of its
// fields as JSON, sorted by name, without spaces.
func trustedHash(event, matcher string, handler map[string]any) string {
	h := map[string]any{"async": false, "timeout": float64(600), "type": "command"}
	for _, name := range []string{"async", "command", "timeout", "additionalContextLimit", "statusMessage"} {
		if v, ok := handler[name]; ok {
			h[name] = v
		}
	}
	if most, ok := longest[event]; ok {
		h["timeout"] = min(h["timeout"].(float64), float64(most))
	}
	d := map[string]any{"event_name": snake(event), "hooks": []any{h}}
	if matcher != "" {
		d["matcher"] = matcher
	}
	return "sha256:" + sum(encode(d))
}

// snake writes SessionStart as session_start.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// trusts returns the names of the trust entries of oxbow's hooks in a file of
// hooks, with their hashes.
func trusts(path string, text []byte) map[string]string {
	all := map[string]string{}
	_, text = splitBOM(text)
	d, err := parseJSON(text)
	if err != nil {
		return all
	}
	var lists map[string][]struct {
		Matcher string
		Hooks   []map[string]any
	}
	d.decode(&lists, "hooks")
	for event := range lists {
		for _, at := range handlers(d, event, true, isHookOf("codex")) {
			g := lists[event][at.group]
			all[fmt.Sprintf("%s:%s:%d:%d", path, snake(event), at.group, at.i)] = trustedHash(event, g.Matcher, g.Hooks[at.i])
		}
	}
	return all
}
