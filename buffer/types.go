package buffer

type area uint8

type slotState uint8
