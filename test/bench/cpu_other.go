//go:build !linux

// This file is for systems on which processor time and memory are not read.

package main

import (
	"os"
	"time"
)

func processorTime() (time.Duration, bool) { return 0, false }

func threadProcessorTime() (time.Duration, bool) { return 0, false }

func processorTimeOf(int) (time.Duration, bool) { return 0, false }

func anonymousMemoryBytes() (int64, bool) { return 0, false }

func peakMemoryBytes(*os.ProcessState) int64 { return 0 }

func ownPeakMemoryBytes() int64 { return 0 }
