// This file is for systems whose processes have no terminal that could be closed.

package command

import "context"

// untilHangup returns the context as it is.
func untilHangup(ctx context.Context) (context.Context, func()) { return ctx, func() {} }
