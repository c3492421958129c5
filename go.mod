module softswitch

go 1.26
