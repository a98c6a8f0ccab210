// This file stores a secret key of this machine. With this key, oxbow recognizes texts that it wrote into the files of
// a project.

package trust

import (
	"context"
	"fmt"
	"io"
)

const (
	machineKeyFile = "own-texts.key"
	machineKeySize = 32
)

// MachineKey returns the key of this machine, or nil if the key has not been created yet.
func (l List) MachineKey() []byte {
	if key := l.readFile(machineKeyFile); len(key) == machineKeySize {
		return key
	}
	return nil
}

// EnsureMachineKey returns the key of this machine. If the key does not exist yet, EnsureMachineKey creates it from
// bytes of random. It returns nil if it cannot create or store the key, or if the key does not exist and random is nil.
func (l List) EnsureMachineKey(ctx context.Context, random io.Reader) []byte {
	if key := l.MachineKey(); key != nil || random == nil {
		return key
	}
	err := l.replaceFile(ctx, machineKeyFile, func(old []byte) ([]byte, error) {
		if len(old) == machineKeySize { // Another process has just created the key.
			return old, nil
		}
		key := make([]byte, machineKeySize)
		if _, err := io.ReadFull(random, key); err != nil {
			return nil, fmt.Errorf("making a key: %w", err)
		}
		return key, nil
	})
	if err != nil {
		return nil
	}
	return l.MachineKey()
}
