// This file passes idempotency keys to the store, which stores each key with its change.

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

// contextWithIdempotencyKey makes the store record the idempotency key in the change that the verb makes. If the verb
// has the parameter op_id, contextWithIdempotencyKey sets this parameter in args, and returns ctx. Otherwise it returns
// a context that contains the key. It can be used only for verbs that make a single change, because the store ignores a
// further change with the same key.
func (o *memoryViewState) contextWithIdempotencyKey(
	ctx context.Context,
	key string,
	rt *route,
	args *requestArguments,
) (context.Context, error) {
	b, err := json.Marshal([]any{o.tokenAndProfile.token, o.tokenAndProfile.profile, rt.verb.Name, key})
	if err != nil {
		return ctx, err
	}
	sum := sha256.Sum256(b)
	id := "http:" + hex.EncodeToString(sum[:16])
	if slices.ContainsFunc(rt.verb.Params, func(p verb.Param) bool { return p.Name == "op_id" }) {
		return ctx, args.setArgument("op_id", id)
	}
	b, err = json.Marshal(args.values)
	return oxbow.WithOpID(ctx, oxbow.CallOpID(id, string(b))), err
}
