    .file 0 "/src" "main.c" md5 0x00112233445566778899aabbccddeeff
    .text
    .globl main
    .type main, @function
main:
    .loc 0 7 0
    xorl %eax, %eax
    .loc 0 9 0
    ret
    .size main, .-main
.Ltext_end:
    .section .debug_abbrev,"",@progbits
    .uleb128 1
    .uleb128 0x11
    .byte 0
    .uleb128 0x10
    .uleb128 0x17
    .uleb128 0x11
    .uleb128 0x01
    .uleb128 0x12
    .uleb128 0x07
    .byte 0, 0, 0
    .section .debug_info,"",@progbits
    .long .Lend - .Lbegin
.Lbegin:
    .value 5
    .byte 1, 8
    .long .debug_abbrev
    .uleb128 1
    .long .Lline
    .quad main
    .quad .Ltext_end - main
.Lend:
    .section .debug_line,"",@progbits
.Lline:
    .section .note.GNU-stack,"",@progbits
