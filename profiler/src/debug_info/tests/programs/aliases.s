# Known answer: `take` has two aliases and `A::A()` two variants; `one()` and `two()`, `left` and `right` are folded;
# `unsized_code` has four bytes up to `main` and no size.
    .text
    .macro function name
    .globl \name
    .type \name, @function
    .size \name, 4
\name:
    .endm

    function take
    function __libc_take
    function __take
    .weak __take
    xorl %eax, %eax
    nop
    ret

    function _ZN1AC1Ev
    function _ZN1AC2Ev
    xorl %eax, %eax
    nop
    ret

    function _Z3onev
    function _Z3twov
    xorl %eax, %eax
    nop
    ret

    function left
    function right
    xorl %eax, %eax
    nop
    ret

    .globl unsized_code
unsized_code:
    xorl %eax, %eax
    nop
    ret

    function main
    xorl %eax, %eax
    nop
    ret
    .section .note.GNU-stack,"",@progbits
