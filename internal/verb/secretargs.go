// This file replaces secrets in the arguments of calls.

package verb

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/oxbow-memory/oxbow/internal/screening/secret"
)

// screenArguments returns the arguments of an agent's call without secrets, and a note about the replaced
// secrets. Arguments that are not valid JSON are returned unchanged, because the call itself
// refuses them.
func (s *Secrets) screenArguments(ctx context.Context, args json.RawMessage) (json.RawMessage, string) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return args, ""
	}
	var found []secret.Finding
	v = s.value(ctx, v, &found)
	if found == nil {
		return args, ""
	}
	clean, err := json.Marshal(v)
	if err != nil {
		return args, ""
	}
	return clean, ReplacedSecrets(found)
}

// value replaces the secrets in all strings of a JSON value.
func (s *Secrets) value(ctx context.Context, v any, found *[]secret.Finding) any {
	switch v := v.(type) {
	case string:
		return s.Redact(ctx, v, found)
	case []any:
		for i := range v {
			v[i] = s.value(ctx, v[i], found)
		}
	case map[string]any:
		for k := range v {
			v[k] = s.value(ctx, v[k], found)
		}
	}
	return v
}
