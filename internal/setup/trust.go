// This file marks hooks as trusted for Codex. Codex runs a hook only if its file config.toml contains the hook's hash.
// It writes the hash itself when a person confirms the hook in /hooks. If the person asks setup to trust the hooks,
// setup writes the same hash.

package setup

import (
	"fmt"
	"strings"
	"unicode"
)

// maxTimeoutSeconds contains, for some events, the maximum timeout in seconds that Codex allows for a hook.
var maxTimeoutSeconds = map[string]int{"SessionEnd": 3, "Interrupt": 3}

// codexHandlerHash returns the hash by which Codex recognizes a hook that the person trusts. The hash is the SHA-256
// of the hook's fields as JSON, sorted by name and without spaces.
func codexHandlerHash(event, matcher string, handler map[string]any) string {
	h := map[string]any{"async": false, "timeout": float64(600), "type": "command"}
	for _, name := range []string{"async", "command", "timeout", "additionalContextLimit", "statusMessage"} {
		if v, ok := handler[name]; ok {
			h[name] = v
		}
	}
	if maxTimeout, ok := maxTimeoutSeconds[event]; ok {
		h["timeout"] = min(h["timeout"].(float64), float64(maxTimeout))
	}
	d := map[string]any{"event_name": snakeCase(event), "hooks": []any{h}}
	if matcher != "" {
		d["matcher"] = matcher
	}
	return "sha256:" + digestHex(encodeJSON(d))
}

// snakeCase converts a name such as SessionStart to a name such as session_start.
func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// codexHookHashes returns the hashes of oxbow's hooks in a hook file. The keys are the names under which Codex'
// configuration stores the hashes.
func codexHookHashes(knownPrograms oxbowPrograms, path string, text []byte) map[string]string {
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
	d.decodeAt(&lists, "hooks")
	for event := range lists {
		for _, at := range findHandlers(d, event, knownPrograms.hookMatcher("codex")) {
			g := lists[event][at.groupIndex]
			all[fmt.Sprintf(
				"%s:%s:%d:%d",
				path,
				snakeCase(event),
				at.groupIndex,
				at.index,
			)] = codexHandlerHash(event, g.Matcher, g.Hooks[at.index])
		}
	}
	return all
}
