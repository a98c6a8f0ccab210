// Keys that the store keeps with a change.

package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// keep makes the store keep the key with the change that a call makes. It is for verbs
// of one change: of a second with the same id, nothing would be written.
func (o *room) keep(ctx context.Context, key string, rt *route, args *arguments) (context.Context, error) {
	b, err := json.Marshal([]any{o.key.token, o.key.profile, rt.verb.Name, key})
	if err != nil {
		return ctx, err
	}
	sum := sha256.Sum256(b)
	id := "http:" + hex.EncodeToString(sum[:16])
	if slices.ContainsFunc(rt.verb.Params, func(p verb.Param) bool { return p.Name == "op_id" }) {
		return ctx, args.set("op_id", id)
	}
	in, err := args.object()
	return oxbow.WithOpID(ctx, oxbow.CallOpID(id, string(in))), err
}
