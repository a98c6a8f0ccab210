// This file implements the routes of a server.

package remote

import (
	"cmp"
	"iter"
	"net/http"

	"github.com/oxbow-memory/oxbow"
)

// writeStoreCapabilities tells the client whether the server recognizes a repeated change by its op ID. Stores with a
// history recognize it.
func (c *servedCall) writeStoreCapabilities() error {
	_, err := oxbow.HistoryOf(c.store)
	return c.writeAnswer(wireStoreCapabilities{KeepsOpIDs: err == nil})
}

// openStoreAfterChange returns the store of the request in its present state. If changeNumber is not nil, it returns
// the store in the state after change *changeNumber instead, and the caller must close that store.
func (c *servedCall) openStoreAfterChange(changeNumber *uint64) (oxbow.Store, error) {
	if changeNumber == nil {
		return c.store, nil
	}
	h, err := oxbow.HistoryOf(c.store)
	if err != nil {
		return nil, err
	}
	return h.AsOf(c.ctx, *changeNumber)
}

func (c *servedCall) writeEntry() error {
	var at *uint64
	if c.query.Has("at") {
		n, err := c.parseNumber("at")
		if err != nil {
			return err
		}
		at = &n
	}
	s, err := c.openStoreAfterChange(at)
	if err != nil {
		return err
	}
	e, err := s.Get(c.ctx, c.query.Get("name"))
	if at != nil {
		err = cmp.Or(err, s.Close())
	}
	if err != nil {
		return err
	}
	return c.writeAnswer(toWireEntry(e))
}

func (c *servedCall) writeEntries() error {
	var w wireEntriesRequest
	if err := c.readBody(&w); err != nil {
		return err
	}
	s, err := c.openStoreAfterChange(w.AfterChange)
	if err != nil {
		return err
	}
	if w.AfterChange != nil {
		defer s.Close()
	}
	return sendStream(
		newStreamWriter(c.w, c.logger),
		s.Entries(c.ctx, w.Filter.toFilter()),
		func(out *streamWriter, e oxbow.Entry) error {
			return out.writeLine(streamLine{Entry: toWireEntry(e)})
		}, "",
	)
}

// sendStream sends each value as a line of the response. It then sends a last line, which shows that the response is
// complete. If p is not empty, the last line also contains the store's position p, from which the client can ask for
// later changes. If a value cannot be read or sent, sendStream sends the error to the client instead of the last line.
// Therefore it always returns nil.
func sendStream[T any](
	out *streamWriter,
	all iter.Seq2[T, error],
	write func(*streamWriter, T) error,
	p oxbow.Position,
) error {
	var failed error
	for v, err := range all {
		failed = err
		if err == nil {
			failed = write(out, v)
		}
		if failed != nil {
			break
		}
	}
	out.close(failed, p)
	return nil
}

// readChangeBody reads the change that the request contains.
func (c *servedCall) readChangeBody() (wireApplyRequest, []oxbow.Op, error) {
	return decodeApplyRequest(http.MaxBytesReader(c.w, c.r.Body, maxChangeBodyBytes))
}

func (c *servedCall) applyChange() error {
	w, ops, err := c.readChangeBody()
	if err != nil {
		return err
	}
	withChange := c.r.Header.Get(preferHeaderName) == preferReturnChange
	var made oxbow.Change
	if withChange {
		made, err = oxbow.Commit(w.addMetadataToContext(c.ctx), c.store, ops...)
	} else {
		err = c.store.Apply(w.addMetadataToContext(c.ctx), ops...)
	}
	if err != nil {
		return err
	}
	if w.Since == nil && !withChange {
		return c.writeAnswer(struct{}{})
	}
	out := newStreamWriter(c.w, c.logger)
	// The change was made. Set the status now, because a later error does not mean that the change failed.
	out.setHeaders()
	if withChange {
		c.w.Header().Set(preferenceAppliedHeaderName, preferReturnChange)
		if out.writeChange(made) != nil {
			return nil // The client has disconnected.
		}
	}
	if w.Since == nil {
		out.close(nil, "")
		return nil
	}
	return c.sendChangesSince(out, oxbow.Position(w.Since.Position))
}

func (c *servedCall) dryRunChange() error {
	w, ops, err := c.readChangeBody()
	if err != nil {
		return err
	}
	d := oxbow.CapabilitiesOf(c.store).DryRunner
	if d == nil {
		return unsupportedRequestError("it tries no changes without making them")
	}
	if err := d.DryRun(w.addMetadataToContext(c.ctx), ops...); err != nil {
		return err
	}
	return c.writeAnswer(struct{}{})
}

func (c *servedCall) writeCheckReport() error {
	s := oxbow.CapabilitiesOf(c.store).Checker
	if s == nil {
		return unsupportedRequestError("it has nothing to check")
	}
	r, err := s.Check(c.ctx)
	if err != nil {
		return err
	}
	return c.writeAnswer(toWireReport(r))
}

func (c *servedCall) writeStats() error {
	s := oxbow.CapabilitiesOf(c.store).Counter
	if s == nil {
		return unsupportedRequestError("its numbers are not known")
	}
	n, err := s.Stats(c.ctx)
	if err != nil {
		return err
	}
	return c.writeAnswer(wireStats(n))
}

// sequencer returns the object that lists the store's changes after a position. This is the store itself if it numbers
// its changes. Otherwise it is a list of the store's last events, which the server keeps in memory.
func (c *servedCall) sequencer() (changeSequencer, error) {
	can := oxbow.CapabilitiesOf(c.store)
	switch {
	case can.Sequencer != nil:
		return can.Sequencer, nil
	case can.Watcher != nil:
		return c.feeds.feedFor(can.Watcher), nil
	}
	return nil, unsupportedRequestError("its changes are not in one order")
}

func (c *servedCall) writePosition() error {
	s, err := c.sequencer()
	if err != nil {
		return err
	}
	p, err := s.Position(c.ctx)
	if err != nil {
		return err
	}
	return c.writeAnswer(wirePosition{[]byte(p)})
}

// writeChangesSincePosition sends the changes after a position. The end line contains the position from which the
// client can continue without missing a change.
func (c *servedCall) writeChangesSincePosition() error {
	p, err := c.parsePosition("position")
	if err != nil {
		return err
	}
	return c.sendChangesSince(newStreamWriter(c.w, c.logger), p)
}

func (c *servedCall) sendChangesSince(out *streamWriter, p oxbow.Position) error {
	s, err := c.sequencer()
	var next oxbow.Position
	if err == nil {
		next, err = s.Position(c.ctx)
	}
	if err != nil {
		out.close(err, "")
		return nil
	}
	return sendStream(out, s.Since(c.ctx, p), func(out *streamWriter, d oxbow.Delta) error {
		return out.writeLine(streamLine{Delta: toWireDelta(d)})
	}, next)
}

func (c *servedCall) writeLog() error {
	h, err := oxbow.HistoryOf(c.store)
	if err != nil {
		return err
	}
	return sendStream(newStreamWriter(c.w, c.logger), h.Log(c.ctx), (*streamWriter).writeChange, "")
}

func (c *servedCall) writeVersions() error {
	h, err := oxbow.HistoryOf(c.store)
	if err != nil {
		return err
	}
	return sendStream(
		newStreamWriter(c.w, c.logger),
		h.Versions(c.ctx, c.query.Get("name")),
		func(out *streamWriter, v oxbow.Version) error {
			return out.writeLine(streamLine{Version: toWireVersion(v)})
		}, "",
	)
}

func (c *servedCall) writeSeqAtTime() error {
	t, err := c.parseTime("time")
	if err != nil {
		return err
	}
	h, err := oxbow.HistoryOf(c.store)
	if err != nil {
		return err
	}
	seq, err := h.SeqAt(c.ctx, t)
	if err != nil {
		return err
	}
	return c.writeAnswer(wireChangeNumber{seq})
}

func (c *servedCall) writeStateAfterChange() error {
	seq, err := c.parseNumber("seq")
	if err != nil {
		return err
	}
	s, err := c.openStoreAfterChange(&seq)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return c.writeAnswer(wireChangeNumber{seq})
}

func (c *servedCall) revertChanges() error {
	var w wireRevertRequest
	if err := c.readBody(&w); err != nil {
		return err
	}
	if len(w.Seqs) == 0 {
		return badRequestError("has no seqs, the changes to undo")
	}
	h, err := oxbow.HistoryOf(c.store)
	if err != nil {
		return err
	}
	seq, err := h.Revert(w.addMetadataToContext(c.ctx), w.Seqs...)
	if err != nil {
		return err
	}
	return c.writeAnswer(wireChangeNumber{seq})
}

func (c *servedCall) restoreEntry() error {
	var w wireRestoreRequest
	if err := c.readBody(&w); err != nil {
		return err
	}
	h, err := oxbow.HistoryOf(c.store)
	if err != nil {
		return err
	}
	var seq uint64
	ctx := w.addMetadataToContext(c.ctx)
	if w.ExpectedVersion != nil {
		seq, err = h.RestoreIf(ctx, w.Name, w.Seq, *w.ExpectedVersion)
	} else {
		seq, err = h.Restore(ctx, w.Name, w.Seq)
	}
	if err != nil {
		return err
	}
	return c.writeAnswer(wireChangeNumber{seq})
}
