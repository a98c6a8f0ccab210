// This file holds going to a position without reading what stands before it.

package wal

import "fmt"

// Jump moves the position behind the chained record that begins at that offset,
// as though all before it had been read: what is damaged there is not found. The
// record must have that sequence number and that chain, which proves that what
// led to it is what led to them before. An offset of 0 means the base of the
// log. The position stays where it is when there is an error: a *[CorruptError]
// or one of the file system.
func (l *Log) Jump(offset int64, seq uint64, chain [32]byte) error {
	wrong := func(offset int64) error {
		return &CorruptError{Offset: offset, Reason: fmt.Sprintf("it is not change %d of the history that was expected", seq)}
	}
	if offset == 0 {
		if !l.Exists() || l.header.Base != seq || l.header.Chain != chain {
			return wrong(HeaderSize)
		}
		l.end = max(l.end, l.header.BaseEnd)
		return nil
	}
	r, err := l.At(offset)
	if err != nil {
		return err
	}
	if offset < max(HeaderSize, l.header.BaseEnd) || r.Type >= Unchained || r.Seq != seq || r.Chain != chain {
		return wrong(offset)
	}
	l.advance(&r)
	return nil
}
