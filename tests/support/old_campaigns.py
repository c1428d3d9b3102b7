"""Campaigns in databases of version 1, as the version before wrote them, and what it made of them.

They were begun from the first rows of `file` with `options`, seed 3 and four check rows. Ann then
labelled some rows, skipped one, and undid one label; Bob was unsure of the row that she skipped.
What `possibal export` wrote, and `possibal predict` of all rows of `file`, is kept as it was.
"""

from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from zlib import decompress


@dataclass(frozen=True)
class OldCampaign:
    """A campaign of the version before.

    Attributes:
        packed: its database, compressed.
        file: the rows that it was begun with, and a few more.
        rows: how many it was begun with.
        options: of the command that began it.
        check: places of its check rows.
        exported: its labels, as CSV.
        predicted: what its model said of all rows of the file: id, label, probability, necessity.
    """

    packed: str
    file: str
    rows: int
    options: tuple[str, ...]
    check: tuple[int, ...]
    exported: str
    predicted: tuple[tuple[str, str, float, float], ...]

    def unpack(self, folder: Path) -> tuple[Path, Path]:
        """The database, and the file that it was begun with, in a folder."""
        db, file = folder / "old.db", folder / "old.csv"
        db.write_bytes(decompress(b64decode(self.packed)))
        file.write_text("".join(self.file.splitlines(keepends=True)[: self.rows + 1]))
        return db, file


OLD_CAMPAIGNS = {
    "sizes": OldCampaign(
        packed="""
eNrtnXuMG8Udx9fvx9k7eTS44Y9q4zzurhxm12+nRHu59JJcc49wuZQL4TjW9lxszmcfXjshREl7CRRQgKBUKlJRRfiD0qoU
gkqhlAirUmlR1CgpTQVFLSWBPNqEQhIOmhBQZ2Z9Zzu+y/kaUJXq95E8szv72+98fzPrk2ZHidfc1J7MYWEgkx1ScoKPm8Hp
dFyzIHAcZyAfO1fCTD7GsnMdNzUGzhPTOdG/OVvdPg71oQP8TuR17udvdww4f0SaAAAAAAAAAACokZF6m8U1d65ue2NOiaZw
CisqVrXSvqy7dWlPq9CztKW9VdDahAa7zZ3NbHILbZ09rStau4XOrh6hc217e5Ngt21KZISe1t6eisZ8OpdMCS1tK8gdFRfU
YSWLhZaurvbWpZ0VV1Z3t3Us7V4nrGpdJzSw7hrtjdv9Fub0nmXMKd6I0zlVK60VTrU26jSdH4ri7IRW3YN4s7va7GAyHa9u
nTCvISWOJ0qrYnhoQ0qJ4hS7n57llOwGnBs/TeMYVtVkbrOwvL1rqRaRyOQ3JEohZE01QTcVY6Ql2kjb13a23bS2lQwbTZAM
23VWs0ueq+NIYvgu9c4UWan1K/lchp33a2PVL2m1bWS2yeJyuXTbTWyMyQTlVFaYK0aYNbEBVoZw9chcZthjmXSO9CS0tHe1
XCYdItskFJOyNzaaza4lrslSYGb6JVZZRhYYtATqWQIkckhlhbEiAdZ0+Wc5OcFzEMOplDrBk4DjSWV8uiZ4eMvnJRmnGRkv
lxFz1y+xypTWsYRGvsESGlBiOZUV+oqEWNPkM7JRSeUnaK4adGpNfzlrrJ9+iVV0bW+lf0Oc5KOvO8Chj0gBAAAAAAAAAMDV
w/0L9EbXI8tUnMsPb3HTRYF7seBWk3dj1d0kuOkCmTaw1QhtIAsclTRIQXI8kMSpOD1b705n6cVNyXguQQ8SOEmWtPQolkll
8ll3HznM4btyJDidT6XozZlUHGdL57GUoqpYU1OHlFSK3p2iq2d2s5rLKjm8YTM1k8DZeDK9gQaoGFN/PnI4jDPDKepeomoJ
HBskx35qGceSw/TClup0BrCSy2dxTUkIS4QoWVdVNGRJ99ReZlMaZ5mK2EQNeJuoJ1+fFpsfSpcSxelYJl4MLo241veYP20t
rE7kkEqyFSiVlMSwJ0A9Z7LaRNCr6UyOSbq3NgmlDsbTmqoPLbCiG9ET9tbWS2nMpuqmGFmZjicg1phO8bkq60i76dJupp66
sizF8r7dY3eMBY4Z0SZUKAolFFXwCvHkwADO0lcd7H5BSceFKI7R1blX0G5QPe6t2tcgOzSeXArnctqzwDqmObrjyQ1Ypd8U
t3cgEpNERQlF/GIgEA0FxFAoHg2Hov5QJOALKDiKxQG/PxAciPqiYSkejkZCcS85CkQlHPD63UXX40PxX/ru22rXGeYilXyr
hhSJbvDr0WkOfUwKAAAAAAAAAAAAAACuemwGl469G9TbDHNt2gsAuv8/w/kwh/6GXkS7UAI1o2v5s/wB/kl+G7+W9/Am59vO
F0gAAAAAAAAAAAAA8AWyCJm4mas4KbjeLUlBuuPr9fhDtPZ5Al5as33svkW8FhegcQHafr3oEdmB6JGk8Y3uhU4S18ZJfhrH
dpAljz+s6fmD42H1DhLWwUk+GuYrqgSLslKk1O/COk3PSwO9mr8Qu8Hv8YZKenZNT6JhzM31kifsLwpqW9maP5umJ9JAUdOT
irJSWbpWE4c6uAiJEiNFOd+YXFke8y0kbgUXpnHFLCMhzV3J3CIzEwvRoFD5iBGtiK/U6QITiWvj6FSIQU3EH9FqX6nLRUam
RidCHJsILYwcBL2lTA0kbhVHJ0L0ayqaaqCYSTFTPZOjEyH6xuTGdCORcbkFOmaOzoPo1TLV5sFXPv3zOBK1jKPTILJWUcu3
LEu6/z8DPcahT9FH6H10HP0dvYn+iPajV1EBvYR+gX6OnkJPkAAAAAAAAAAAAAAAAL4MTAaki1hpGbbQMmSmZdBEy4CRln4D
LX16owHZvGbDTJ0URKwK8KzyO1nlc7DKW8cqyc4q0Ubuskp0/99Qt41zfOJYTCoAAAAAAAAAAL40RiIG00Lr9lu1f9XuUWNK
Cn+/c23H6nU6biO3pT6O1Vi2frFQf+NAuL5JqB/IZHNZJd2fycYxbV+upFRM2tWEMozJeUOgqbFJ2CpcAfYfeh6Zlxie1byy
vvf3ioVrPrL7UeNhi75Zc/yhPFaPLNab6kveYzidy/7PzTNvwvrmI3d/5ZkV80ZlH0W9KF868N8z60zI+qCj94oM0/84IXBF
nu2WbfseuNZ6oTD4zswtD7qOFRzfVg/vuvheoXK0Oe49V/+mh3d9XBht/9qJe5eck7mT/5p38eTRSxL7UP7Nczqsd50rLD2e
OJhecbowx/nGP37243OFS+NufHTlk6dv/KDwydO/3LvwnVH5Zt/et71t5+VL+x3d/9B3D686WbjvMwFf+Ofpwk+vmf2WbD5T
pffs56+v33fLkcKsr6ujvq7z8qtnZ/SIPWer/L0eF9Mr/3S4kNxz8+N/WPtuYVF4ZtcTkXNV+X5VOrX79t++XHht9/KfNDSM
yi99fuc1rlc+qtIrxsn8xp62Bnm0YJptOXTmdx8UJulX/nR/X7b+2Jtyvr3loHfjW1X5FvOQ77XMfm71kvOFNzpvfaHzqdNV
esVxkVFPyw13bD8u3+Y7Obhn7xl5knGWu3dIC2574Gjh8R/M6t995lRVvsV5k48cW/VNXd/z8kNnzt7jPnKiSq/4HMg7Pgt9
fOHdY4VvtfauaXj2RJW/4nMlv7ZvztHb1h+VBx/b9uvQyyer8qXfGAP6M4cuoBOkAgAAAAAAAAAAAADgamGmcaFVV/5O0TDL
WD/eor2p05uMyGrrpfv/fN0Ih55GvcjAP8Ov443OZ523OE2OvY60Y1Hdq+QiAAAAAAAAAABfDC28g+uYO9vEfk3bJF6WYCif
VvNZHM1EdTsPHg9ZHbon3kenXul3Eo05s00c1zG1RjCfjmeUdJoq+IQpggNaB8sdpAMXMemqwWSA/WhesYcbwk72AwCaTnOd
ZrSmZP3qYHK4KHPd6mKqa+zjTiyuKRREpczJsZ0NNvYLBPIhbeDZSVHUNg3RSLnofc1Wlt6YaFmua6zTEA2Xi+7otUzq1DIN
0VC56HeGzZM6NU9DNFguuuV+06ROTdMQLX9kjm3aY5zUqXEaov5yUfVXhkmdGqYh6isXzRzST+a0W6+J2moR9ZaLDp6czGi3
TtO01qIplWsmuMl80v1/3vkph/6KXkS70RBaiebzn/N/4Z/nd/F38K28QC4CAAAAAAAAAAAAVzMLDB26qd438TUEBZ01BAUc
NQT566YOEhV7DUERWw1BYWsNQSFLDUFBcw1BAVMNQX5jDUE+Qw1BXv18Q4dtqrcEdP+fmwFfBgAAAAAAAAAAAAD4f+Y/HBsW
1A==
""",
        file="""\
nr,width,height,colour
101,0.00,0.30,blue
102,3.73,3.11,red
103,-0.45,-0.99,red
104,4.06,5.34,blue
105,-0.49,-0.62,red
106,4.49,4.36,red
107,0.11,-0.93,blue
108,3.97,4.70,red
109,-1.34,-0.46,red
110,2.10,2.71,blue
111,-1.84,-0.24,red
112,2.73,4.27,red
113,0.16,-0.19,blue
114,1.48,3.46,red
115,-0.05,0.11,red
116,2.47,3.52,blue
117,-0.98,-0.81,red
118,5.06,3.19,red
119,-0.03,0.88,blue
120,3.42,3.89,red
""",
        rows=16,
        options=(),
        check=(2, 8, 9, 15),
        exported="""\
id,label,kind,who,when,necessity,thought,final
1,small,label,ann,2023-11-14T22:13:20.000Z,0.25,small,small
2,large,label,ann,2023-11-14T22:13:21.000Z,0.25,large,large
3,small,label,ann,2023-11-14T22:13:22.000Z,0.25,small,small
4,large,label,ann,2023-11-14T22:13:23.000Z,0.25,large,large
5,small,label,ann,2023-11-14T22:13:24.000Z,0.25,small,small
6,large,label,ann,2023-11-14T22:13:25.000Z,0.25,large,large
7,small,label,ann,2023-11-14T22:13:26.000Z,0.25,small,small
8,large,label,ann,2023-11-14T22:13:27.000Z,0.25,large,large
9,small,label,ann,2023-11-14T22:13:28.000Z,0.25,small,small
10,large,label,ann,2023-11-14T22:13:29.000Z,0.25,large,large
13,,unsure,bob,2023-11-14T22:14:13.000Z,,,
""",
        predicted=(
            ("1", "small", 0.93778403, 0.37469407),
            ("2", "large", 0.93757751, 0.39342881),
            ("3", "small", 0.94541056, 0.3450001),
            ("4", "large", 0.95680937, 0.376121),
            ("5", "small", 0.94376383, 0.37138047),
            ("6", "large", 0.97683754, 0.5996293),
            ("7", "small", 0.95668714, 0.41122622),
            ("8", "large", 0.96851071, 0.46897774),
            ("9", "small", 0.92017343, 0.19745107),
            ("10", "large", 0.60431445, 0.0058602378),
            ("11", "small", 0.87762758, 0.10520159),
            ("12", "large", 0.86502237, 0.10068155),
            ("13", "small", 0.83992393, 0.074516225),
            ("14", "large", 0.66422211, 0.010742332),
            ("15", "small", 0.73408392, 0.023169982),
            ("16", "large", 0.64861653, 0.0072914874),
            ("17", "small", 0.72924608, 0.016979071),
            ("18", "large", 0.73608068, 0.016822867),
            ("19", "small", 0.6407079, 0.0050119295),
            ("20", "large", 0.67200319, 0.0070801614),
        ),
    ),
    "named": OldCampaign(
        packed="""
eNrtnXtsHEcdx/du7x37tolJL65Qu1xTLibOdXdvd28vNLrYxXlhO2niiAQrNXu7c74j6z2zu5eHIovakKhqQKhUKUUooFLU
f6hAqKipAOkUCURKXykCVFJaHmpooGmhUkQfkMDMrGOfE7+iIKDo95FuZ/f3m/n9vr+ZlaXZ1Z133NVb9RBfrjkjusfnmBuY
QIBZz/MMw7D4k2CmieBPqOk6wCwMy2SNQCv3DhNf8iOG28M9mzzKSa0/S36qpdx6HJsAAAAAAAAAAFgk45l4NNXeHpjo8PSS
hSyku8j1j4k7t/d0DfTwA13dvT28b+NXJeJpp7Y/zW/uH+jZ2LOd7986wPfv7O3t5BPx/ZUaP9Cza2CGsW57VYvv3rwRj5jh
cEd1B/HdW7f29nT1z/Bs2765r2v7bv7jPbv5VTRdR6JjQo5SpZ+/kypF+5Dtuf4xNkOpbyNK7fpICTmzSk3vRQfTV4vdW7XN
q62z1jWim2i2smZMDzFYeglZdDy58nRnGHlTlzYykOtWvYP8ht6tXX6PSq0+XJnugvdUs6SZMUd+oR3EvrN/8107e/C0kQLx
tK2ORVLF9gCDC0MH3M9YeKc2pNe9Gr0e8udqSPTb+HhbOJpKpQITYTrHeIE8lx4iM2aYmugE6yPo6pmZZ9qNmu3hTHx379bu
ecrBYTv5yaISHR2RSGpdaq4SqJghkTbR8ZWsX0CGFoB7jrj0EJpRADXNfy9XZ7kPDGRZ7ix3AjKr+tRyzXLzNq9L1SQVhear
iKobEmkTtgO0oPGP0oLKuuG59BCcURA1zb0i+3SrPov5qkkn0oLzSaN5hkTakL19jPwNacWfYGuF4S7gAwAAAAAAAAAAAHDd
HI4HQ6n7Wl3k1UcPpcl+Lb2Wp62Z7uTT5NkFMdCNIjHgvaeLDaKEz8tVZJnkajBtIXvYq5AO+1F1uOKl9+BTDx3wsNeuWxbp
XbNM5ExfG5buusgf7o7olkVGW+RJBh3seo7uoeGDJHsFOWbVHiYdXISIoBw+HUW1UYvIFUm0CjL24nOZaERGdZQ4Dl2tv4x0
r+6geVTX9tvIoX6hkxeJxahZ9RF7WjmyjZo52Wd6zqaDXU7qP2xw50pLQtNtPgktZlWV6Kg5/owSp13zaOT0WCc/nWdS6iLy
NBU1lUfKKtrcefxVc0amXBbyPL9SOoQoSZvVYeSShU0buqDnDLFU0tVCXlMlVSgJsibJBaUgSyUtr+i6bBiqrMqaaghlSdek
glYS86VyXkKCrqcnk/vpxhIBtp1z8UqO6CJ5wR/kzjPc3/ABAAAAAAAAAAAAAID3PXE2FaAPoIJxtj3uPwAg7/9bks8x3Fnu
Ge573EPcZ7ky18fJ3E1cMHkOOwAAAAAAAAAAAADgf44VS8JM2xrGEcXBtJTNqeTFt0zaPSsSkx5hMC1MeoSshD03xsPM0tWM
UxhM57IideSyeTwihu23M442mF4jZAWZOMSsLKf3pKLYg2PlyYic4idRReyI+A6V5NBUf4RCHGHfoQzinvm8n6OgYEfId8hk
RGFyRK6AHazvyJEcfnI5q2FHexA7RMaRsCxcokg8WJ9IxgT8MbR4VfazqDhLO+OPwbWvEbN56sEnOVwLef/fwj3GcO9xF7jz
3Kvcy9yvuOe5U9xJ7gfc49gBAAAAAAAAAAAAAMB/lAi7NOAU4rTRYrTJR2mjRmijhGkjh2iTY2kjBaNsW8ARxSV+KyTC7NK4
I+JjzBHI+3+21WaSJ5LLcAMAAAAAAAAAAAD8Wxj/EBu+LTbR6X9zPusauoUe6N/Zt213gNnHHMqYyDWczFo+c0dZy3TymXLN
8RzdHqo5JiL2DbrlImx3K/oowterpM6OTn6Mvw4Sv731czfdWGPW37NmyzffSjHrx9PBcGZao4Fsz/mvi8yfrrLH1beL25+8
+fDrLwTXT2wIhLnY4ZZd1yWM/LqCdF3aEoVLD17acOadRmjnV4a23H2xoVc6zqtH/lD8Qsd39cceebU45JztPb3lYmPixBNr
f6pdaDzyxcOjnzx5rrjs3nWRr2YvFL/PMv88cOy5Rubb9/zi3a+/0nh63VjkI2feLR5EY+8NVP9UPPSB73T1V37eOP77ZObR
Z880bv5x+9vHjr1R/HXmh0fHLrxVXH73o4l84bXGi133P3wy+nIj/MzaFWe/8eei8sqHD22qnS2+oG050nbpd40vJz546t5v
/bXx92D4ljt2/KZon7rloTff/EuRvP9nuV+S9/+v4QYAAAAAAAAAAAAAgPcLS0O3xQLNz5jYZaHMlMV/ohMMh7hYfBf9/n/L
JxjuBGdzK5NnkoeTQutLrUdaP9byj5avYQcAAAAAAAAAAMD8dLe0MH3tbWH6P8LDwryo+brt1h1UqpUCR5//Yz4WCzz8Bvf6
00NLcIzlbWGG6Vs4hlq3zZpu2yRCjl+gs+In2JDACVJYZGoRIhX6rwAnM9yuxelP6ftx1sd9oYsqVnb3Vkcnw6zeNlnqjtiU
kmhqgQiC3KTkrPtklP6Wf/G0P/H0YjJo9BqC5pqD1k5HaHmXgzbVuiNyDUGl5qB7z4XnVBq+hqBic9AKE5pL6aYQuQWXX15d
pSxJiqlpuqnqZdPMaWU5p+RNhE/KmqZVR0ZrjleuWr6kn7DT8p7axDZHKquCVsqX9ZIhKCVBkQplXdORKCn5gq6bhnBlpOC0
pqc2Bv1IcRqpJCoKUg0zl9MEwcybsqkoek5VZAnHF/KlKyM1SdoY8APFaCBJUiXRKJuiKRuFslEWJROpJUkqCCXJlKTclYGa
FNHv/yd7GO4l7gnufs7iNnLp5MXki8nHk19Kfho7AAAAAAAAAAAAAOAyK9m+wELbYpZ0WmjHG7yV7YsvtJslgRbazodopwUe
O7UsopO6ZBGdlMQiOsnxhTsJcmwRnXLRRXSSIovoJIbJ+3/mBriFAQAAAAAAAAAAAOD/mX8B6W6qMA==
""",
        file="""\
name,length,weight,sort
r0,-1.74,-1.34,small
r1,2.64,3.65,large
r2,-2.31,-0.19,small
r3,3.04,4.89,large
r4,0.96,1.39,
r5,4.77,3.95,
r6,0.86,1.51,
r7,3.35,4.61,
r8,-0.04,1.44,
r9,3.16,3.70,
r10,0.36,0.26,
r11,2.36,4.36,
r12,-0.12,-0.24,
r13,3.84,4.22,
r14,-1.82,1.55,
""",
        rows=12,
        options=("--id", "name", "--label", "sort"),
        check=(0, 2, 7, 9),
        exported="""\
id,label,kind,who,when,necessity,thought,final
r0,small,label,file,,,,small
r1,large,label,file,,,,large
r2,small,label,file,,,,small
r3,large,label,file,,,,large
r4,small,label,ann,2023-11-14T22:13:20.000Z,0.25,small,small
r5,large,label,ann,2023-11-14T22:13:21.000Z,0.25,large,large
r6,small,label,ann,2023-11-14T22:13:22.000Z,0.25,small,small
r7,large,label,ann,2023-11-14T22:13:23.000Z,0.25,large,large
r8,,unsure,bob,2023-11-14T22:14:13.000Z,,,
""",
        predicted=(
            ("r0", "small", 0.78472929, 0.037590333),
            ("r1", "large", 0.9006195, 0.37846455),
            ("r2", "small", 0.80420158, 0.048933977),
            ("r3", "large", 0.96751095, 0.50772681),
            ("r4", "small", 0.92283635, 0.47019731),
            ("r5", "large", 0.96626129, 0.40699739),
            ("r6", "small", 0.92042033, 0.46471386),
            ("r7", "large", 0.97071726, 0.58238291),
            ("r8", "small", 0.94156192, 0.38783864),
            ("r9", "large", 0.93823112, 0.50151941),
            ("r10", "small", 0.94727207, 0.36162321),
            ("r11", "large", 0.93027265, 0.38857013),
            ("r12", "small", 0.91970222, 0.23081572),
            ("r13", "large", 0.97122021, 0.58725782),
            ("r14", "small", 0.85514932, 0.098856954),
        ),
    ),
    "texts": OldCampaign(
        packed="""
eNrtfQdUFMm3/sCQ05gBXbXBNWBkyJhKVFSQqJgWQQZoYJYJODMkwyKooJgQUEFkCZKRDAoqFCgCAkrGhBnTGnHR1Q34JnS3
iLK6//2/d87vvf7Oob+qW3Xv/ep2MzDTRbPS3oopQBEPLo/NECD6lCEUKSnKAgShUChU4Zcy5SPkhF8y/fpSlK+DSpnpJqVK
e0dRVD5LoTnRLqntoemp1qu5qHioxgtNJEiQIEGCBAkSJEiQ+EYET1aUV9fUlArRETBcWSgLZfBRvuSotGiFuZmDOeJgttDK
HJHYkClKito8rr82YmHjYL7UfAViY+uA2KyyspqOKCn6e3ERB/O1Dp8YfTkCJgtZaLFU6PHJAN+HwUORhba2VuZmNp+M2K2w
sDZbsQ5Zbr4OmSJOp6OkE2IgL1a6Y5FYKeqHcgR8yVHhE6USm0gpx5ftivK+KFXbGw3U/lysN5Pj/rn1i+tiM9zRLy3rk/KI
DCyGK8oS+4t6AgbPExUQXQ7qhvL5TEEgssTK1kwyw4vr6+n1cYrwPdUX0nxSI8lCdUT2VTYW9qvMhWUTLVBYtmkKcupAU4oi
XBgawN/IEr5T28DwFXDF/Q2SWm2gS1gxeLisvLq6ulSIrLjGwhMk4IsPcp9UWGwSF5jBRj+vzN+U3Y3LEQgzIQutbBf+zXKE
Yacj2KKUdHTk5NTnqQ+2BLGYDXQxyQd/T5UsYLJ4AcKZbL74IPPJAsSmv7+WmV+4DtxQFov/hSsBdWcyiNP1hYu3/3lhuotW
JPN3KxKr20AXkyxHSryg4DniBXkw3AR88UH6kwWJTYOfET8Gy/cL5s+KLpIm/XfSxHk20MUkem+vIHoNURV+SStvo9B6hQcS
JEiQIEGCBAkSJEj8t2LXRmkZ9YNOfFTg67NZW/R7vPZsRFuABgj42tMRbdF7Wtwg6gvfkvCFfbqesO3BRFnuop6jNlv4PpTh
iWo7TcemCl1wm2gml+WO8oRGji+LJey7sRh8PipxFb5HZIvmeAlJ5M4X8BgC1DNQFMIL5bkzOZ6iYT6KioToC5s+KNeHJZJJ
F4XyQt28hW0DkTjUjekjGtj8mW4PlCHw5aGfqEXoohG8o9e/o9+/Y9C/Y9i/Y9S/Y9y/Y9K/Y9q/Q9f9pPeJBrqeuARcfw7K
E0sV9dy4LF82Z0BFUY4b173fJAHKY0sWxxANMxAfHnOTeCaDhxMSyPUVNwWSI8Ly5bh5YW0Ol8vBmgIvsYcbg++Fs3DYn2gT
oYWnkckmGqLwPEmPyxeeLPF552GE5/bgoSjOCJ5B3GFzOWgg0SNyMPmSI/IxKiFb3EAky2GjqAC7VLCmMKKfxIEILW4gAq47
A+sSE4QNoV3Uxgsh4o9TsfVzPTyYbujHFiKRR6gVNxBs2ZIO5smXrFtIeCmwMgsJ6Sde1P2YRSJJwCVODyHIn8nBCGHgDWKd
WAYhYdURtTAh+FkSMSI+HaLrh4UKBJLLSdufy3PX3iq0uTM9Ub74W5mOutLdTRi6qKsBQ98YpdONDPVQI4aHkSGqZ2DoamJC
dzXwcGeYMFzppnQjBoNBN9Q1cXU3dRU6GpsYGkkqKJB8+zltVZKiatL4wu9cNoOuJHr/T3tGob0VHkiQIEGCBAkSJEiQIEGC
BAkS//FQpKpLiT9olFakaipKPgAQ3f9XUdtJoXXTamlZtF00D9oS2gQaRe2hWrVaunCABAkSJEiQIEGCBAkSJEiQ+P8FRFmW
MnwehU2nO/a7AY983HXgNEZJOENfOEPX8eOtdmx7gBOiKEsZCihsU0f8/j4i2UaB38l30lAQzphFYZs4ftz5IL4h76QlLxwx
o7CNHfEtGrgvvinASUtOMsXIsd/+CwTbVCGJMk5WOGUOhW3oSGyKQPptYHBCZCQKDRz77dVA+u20cEKokhn6jp/un0DwzQdO
Y6SFMwwpbD3Hfhs28ARjpCSD9E9KINmp4TSaIhwUFg+rHbY5RaJcdP9fhXaCQvud1kt7Ruum3aR10ppodbQq2mlakXCABAkS
JEiQIEGCBAkSJEiQIPE/CjnqUCm2qaKYTBTEZCwvJiM5MRnKislARkz6VDHpSctTh0ux6XRlCesqyVKHKrLpwqMCW1d0/59K
baco/aZQIiQSJEj8hyNzNVV2lkKbiuTv8Wa6cdk+XI7oGTFRNqus7dZJUfwomye7o3w33uTZyOS5HiaTpyOTPbg8AY/B2cDl
uaMi+xIGi48K7Xwvhg8q7E8R/c2hoYHOdGQr8v8IpXcG1i8oCuHgKMZ/mijdPjG1EvyBcVbfheUdW6+AhbdlepT5F4BT653r
elkFYH7xu8J3Cc0gV7rcFNmXDmarv4/QXR0FgtG5xcZVSaBEu7CmRyWE4BCrulEjOguIcZytN98pR3LTCH/HupPbhnMSPvPD
mT9NXjVZqp7QEe7UlbdrYSX4fRqaxNI6DJ4sczlA0coiGLfjzDj0aI/msyLCf+9rmedV5ZnA5q8STWu5BiIPN9yo3q89ldBZ
idXnfe3PcvndrQT3TkyXCR/aStQLjzMwr4X1rNfqPaXgVXj8ykqTZCLegt91chd7x4Osh4pb7/R1gJ6hlfPQ1s5B65iaNLvx
SWExiMDYbpULqCv/GW7EeHysR4brmkQYHsyTo1w7BuccgednXjgBXn+4dlnHPx9+r1vmZX69EtQWrbdZU3QG6NWAFX7q6aBs
xttpLr35BCvdXrMnVD8O4uM418vZGUwJaCf8t15M2Ho5uekzP5wPNdx9sywlBszDdMQtlbmTt+cwjEHjhj7v3Qh+0PKYGr3+
OsG4HWfnlveh9clZhP+Pd2/eopbXgPXyp85OZ+YRebJeFf26M/McoTMFq092tLv5CFo+xPm3IzrrdYuLiHrhcQbm1e2ZmN9J
vQ50WOHHY0xaiHh/RHglLK26BEoPnnBbYpgC8y5EfYfIFMPB6rgsMHOraXIlsMZ476+F7a1b6GDRSwmvjesq4t4pgB+OTVlX
Z7UXWlTHu126fxKqr8s9XTVxEfBczNPZr98BqI1206Xq68EaaHQv91ANeHCm4Hkicprg9IqFxYnb5hHjOL+1nnKkY8x5wj89
l6230KEcDvTDeZd0zFKDwpPQEtNxvTHBO1ElBu637NxetuQYdLhmGbklqYFgkV34+qa8A0jLainsYmEvcEx3j3/1ymZoMP3f
vKyJXtk6/uJ589/LLRiMOXt8nWssPoCB9kalG8/VzlAJ/lqcwfgHbnH2PbbUN88fmG+w/mC6Btrx/IPZv7bugfMGyztYnoF1
/lo9wuWkZGkK0Spr//WPRLrev/qReOT+3rE6cvkg3PJwd6RGBzhpdjcq7OgNMMqpMr394mZo5LXpyZmbB0H0FN3c/cPvQ8eO
0Bdnbt8GyOlmumNQCfBbeaIrZkoLTInbOkPuShSI5LxUP+9QBep+bwp44aAEptvUPdqV9AiMyR/60N32NDza6t3BoKbCHr1L
OTr1NdA4S/pWTtE1eOfSTxpT7+eC6FWXb2pG5oPOkfTWqHfpYCN9VbVNRwFcI2vvPOLpVfjDuTO9TxMdIGMWdSeP2wq7nVOc
nZ0qQHI2l7nY+gnQqF2xuk2jDZqhE47OyD0PHB6sZLVzQoGXy6SECOsaEBNsXV374By80zqE8f5tJQx/W3dfZ9hhoCk1el/a
tAwYvtqcy2+6Ds6NZxcUXN4KXZa1HFGIPAvWd/1S8kA3CtwMydi07mgp5DX3zGu5dw8u0LKnVd1/CJKye3+6Or4Ihs35yXnD
mqPQOGixyma3ajikMqxWbgwH1P7JtJJubIWC5ka9iC5boPB9UcCk1duB6pjYdu+TaYB5ofnBxMwWUHZy4jSTKZ0g/vWlLiOj
vaBp6uvLffwq4Ofo0eM87wFwbHP0CTG7B+o9paUflFqCq+5OsgptZQB5Mj9Ba9xPwCyv632HVwk0qziRsfjdEqDhkxJ3TLkD
vKc2yFFcGoHjMbMF3zFa4fj3qVXFzDswt27H5Kv0QlglC+1k4tOAfUILjyUfAq6l/fLmVPZ9MF/PUW7o3HgQavHdmrDedrC+
JxQ5YOwFlXis1MTYfNB6TXNSPqsONAXBN1pW9cAVeFF2vOoGmRpWrAVxECav3bBX2rUYnuiqQP/yuQBj7oxO1aA0w7PWRzTY
OlvAT+yTz+LP3gdbw21NRz/3gztP1jcjxUfAmZlnJpZt5oPVPo/8F37oBrtvn7tYHloJHzc7LdkebwOOZhsbeTvmwdCORT96
lVQAnTm/xr7KPwwtde+ukunZAZYfmOh49MYtOPPNhMO2wSlQdzX8ZbfcXbDq0LAwRoMLTP09w/xRciWkTni7nb+2CAybO+L5
1J5OoLnX00dvyD3w15NTrDNHMmH3puNHIw+mAFlTLcRkaD2Y31cb+3rvbVgc7uo0e1I+oFwumL966W3ons7r2D0jAox+URoc
1wahnV1T+zHVqbAvM8koLeApaOtzS4maVgst7TQWvFuwGqT+kVHON2kESYlJ016WHYJps+5ODuwNBeUvRpUXBUWAXaN/i5uq
dhxG110ZoleQBqPSRihr7TwPo8tqH5cpGwOpB+9GZ2ldAyZb9N9dVCkHtVOesS+seAw2vF6U+qf1FbgnWso57341CB2htO3d
iFg4Teugu2pnI+zp2bU9T5AIZNkjJ1n5V8K1My0UR4eVgqrvc456amRDZvDQ91NXXofDJ6azyrr9YUxRYMryhZ1gbQbw0Rx9
Frrm20hzmtcCBV+tQ+OG3wcIOjZs5/i7wOjQm3tTzDLg5oTe+aWTi6DRfc89x5bfAC/PphxinxH+Cm2R4RHSsBtkRTWhQ++M
AWEvhygxvWqg6P4/ldYmuv9/X0gkSJAgQYIECRIkSJAgQYIEif8M0GS0FKQ+fjQuPUpmFtH/eC+QKitDU1BcK7r/r6rcQ6Hl
0pxpymqn1TzVRqmeV+Wpjle5qXJYxVA4RIIECRIkSJAgQYIEif9ULFRVoVhrDpcV//duWd2/hZGxL4fvy0Ndua5Se5oeGiso
SSU9pz29uUFFGGPkcFkKxfrrMYx8Oe5cBocjiqCPfGWyoSSBubIwgbpQ5MhvEGko/id9WIZZJsqi/2ggCbNASaLzm9ZqwPdm
+mBRptlhK7VXJITIj/xKBF3TfkIehC1QEAkBzZKyfxRlq4CFHE6RH/61kCb9Q25fK+/1MaIXHtBe/h9oNO4fMMhHbhCNcv9A
o1H/kJt3yX5Ro+w/0Nj/hD7wT5QZRKPMP9Bo0D8kv5T6RY3Uf6BRv39AbrP0lzXaSEtCKn6LRr3+Ib0ff0minZQknsK3SKT3
j+dF+bJC0f1/VTWEQuuinaJF0ti0ZbQJan1q19SK1Q6o/ahmLhwiQYIECRIkSJAgQYIECRL/B/A91Vrqax8SqX7DJCOVb5hk
qPwNkwyUvj5J11TxGyaZKHzDJGP5b5hkJPcNkwxlv2GSgcw3TNKnfsMkPekJVGvFr31GILr/TxlCXuckSJAgQYIECRIkSJAg
QYLE/3aIHrWDP3LnrMJVk5TTZcQjeZTStHfnK14D10b7uIbaLCMe3fOs6deWu+1txKN/LLBHDlkMK9QpiAqDOHtoVe6/NtoK
jHsteQQRHgfPh3P1o3cTIvc0w3eMDzKWKgEQj/dC/3D43JAqeNohbma8/1kQmfXy3C7mDjjYo4kWP149e5u/O7T7RcL2lx0g
p/sQ3Iiz4qSD6747B7sSap82VxXCCy/DLv/yRx18vL7MwTknCzyu3BNDv54NR1bwH07WOwIty2m29h0pML124ZtjDgKA8+nC
oLcapQ0AH8c5Q2XZjc7JqYDwPxUXWBxQ+JkfztbaI9uaQy7BakzH9CnHXXnaFyEloevCybB6+NRCoGY0rRLgjNtxllb0ZF8d
10n4L72c9ehFZCZcYRJjGstsJvL8gfw1rKsgntD54pGkPifPsExu3f0J4Hx4wbqD+57WAw+sXnicgXktHesp4/KS4SZpU+1N
1/IAHm/NJD25/JlF4JQ6b5tJdDKkPFAriovaPmgdQzRVOR0LtoI8jP2gJgW2pwMWxgUbOPN7cipgsn3itsDttfBmdNeFCRd/
hrMfUX/mxCUClyKTdH3vIMiW6wm+WBoNblgMS9S5FQ97TzTSXr7JBji/irx/OTmjAVzHxnE+zu0blWSZB3wwf85u4Gvj6f+Z
H87bW9eFpAbVwquYDte2qc1XH7WA3vATxp23WsAbA1d2521/iDNux1kZnLVucGsAuH/CWmZ65/zVsKvY3bLnYg2RJ+fdsLuG
drGE3kVYfW6/Ss04NOUCxJkevSp2e1od4GL1wuMMzFvYjvamJx6DrDuTvSuu8Yh4acF9nW9jd8Mtp3Xfv9pZAfVnFD5nrTlL
1GdgHU+sz1z8p1MzLMK4Z4tJ8g+CEGi0VcIVUQcezHj2M2hWHB9Cj48HKnN2301TiQaUcUvCmwzZsHW699DwvmRguqq1IWXn
GcCpCdp3wi8fZgdatu1ubwE4O77dkBASFg3xcZz3WLncVN1wBZhg/k/WpUrvcS39zA/nqGVSEz1WpgIlTMeSrPuh4R5JsNDN
Z9n+5Qkw9vnqfVZ6hwnG7TjXSu9cfttuO8T9tZ3nquw4Xg3H7Df9ZcypcCJPk8+se/GaiYTOLKw+2dtu86uK4wHOhhXpnNLG
SOiD1QuPMzBvb2O7S8nhjXDYHi/VqzntRLyg9789zbhaAceq/eUTHBkHk7a9Vc+ZFzVoHWMXJrS9qm0E+zF2YYb3ZT3bCCZh
XFEXG//uUSJo3VLdG1CaCPaquZ/KafUBc0asjXNK3AEU3p6yMIhrh07N01p/DGuB/OtycGxXGZS+W4pQtJoBzjUBlq26Q5KI
cZzXPHvoXVFRTPhHMYKzSipK4EA/nFMPP47jTU0EP2M6orfNS34V4Q9HxMb2luSGwhO2UXof3HMIxu04T/FqSBi7PQDi/oeC
YjPWf18Or7i0uTy7cpjIk2mvtTgFtAJcZzRWn2a+07pjR5IIzvXPzNxRGwGZWL3wOAPzIhnra687Z0DvX8dOuFRcD/B4I0Z1
2CWFRoJRDxVZayqOwwszbHZw5yWBweq4cFWWqz0/BbhgHJRhUrGxrQEGY/zrolwrhb/yQPUbX8XQzbGgPmVHmfPqNnBrie8K
rZsXodXGsWuv7kwCm+pVI4sfJQPdyYvN6t57ghKBpa/zbRNQiLHr+3s2OfEXwXRsHOefK4Oe3T2ZCP0x/6BiH5/OiGI40A/n
2Xzu8CPvW0ADpqOvJ6jwTWeT8PUpp4UWVAhXDC1VOGpcRTBux7l85azQOPOLhP/+J+xlNn25wApsnuWiUP0x3/nXiH9jIqHT
HqvPm5vDdygdCyB4f9sfWa62cRCvGx5nYN4D5lmLpy46C6otOCU/vU2AeLxmjdwph8KKYIoFLUZ/5DlYrvaLsh6nGuJ5CwfU
cddNGMEKPg/3Y3ygM5u2XeMwtMS4JiD3DeP3TDgSeWPtl54G97Tt974z7SCY4ZdTdDg3BV4uy392/GQM5My5dLTsTgd8sHxG
g/WIdiBj3zxxdtkJguuuGF6vuXcc4OM4HxSYL9OeU0/4v7w5d7XC+wOf+eGcEjUjjjY1BvpjOpr+mH7hR9ODcFnRiz+32buA
JxFb+nTWFxKM23He70t/lB8UAXB/ZknopdrQKngu/NimwN1hRJ7yvPDujLEXCJ07sfq8ApZhy9NyCVbbKbUi2z8QhmH1wuMM
zKvWoZl8PLAICLpkhq2KKoR4vAXL3I+UMwqAtOUkNNvtPNhWepSy7nTBoHUMzC1KT7mzC9zEeOUuv8cH5rYDB4zTLUbdWlR8
BiCxd6LNfFtgJ3r1xazJDeB+yTAdgwl1YGxr9xz39iCwPG9E2u63u8A+xatuM08z4YshWZsyA3ngFcbbqB+6jzwOAn7YOM52
+y7/UbEyAtpj/qlHz5bE2x6HA/1wlm6Vj/s1KwtewXT0nZDq03lSASJXqrSM2FQDnX+Q2zXErYBg3I7zsqXHYn4Ykghw/3GR
9vNm+0eAEqOxE1OF1zmeJ/BGQJMnZSeh9yJWH+4zO3qNdTvEOfrB5iSNETVE3fA4A/NSXrkq/95ZBuRzYiLNCmOJeC8SGhbL
zkyFaOa8KErqcbjo6Rzn6KwUoj6vBtbxbF5A6LZzYBfG9f6N/MY+F7g9UMJmXtJeW6k86Py86oXKsbXQ1/XeFsdTP8Kp16/s
23x9DTTXHnMrXxnCyhvZyzsfVcNfD5zjhKceBtzTj7t715+Efhindul2hziOBVoRknGcTXfLnPL/cBmcw/z3dh5v+XnuPTDQ
D2fj3WvKgqp84A8MiY566vLx+0Jt4NaGD36/GduBxX5Brk9PRhGM23FOUQiJzH2zgfA3eDdpbHmFO/CyHrf7UvocIk9rQkzC
h0u5hM7NWH1WNPAWUWNsIc5lHVdvXM9ZCVcESOqFxxmYN3TVxHO25/eBqZdNnOMmdkI83jU4sfr9jrvQz497UNk1HJgu+cBv
u+UG8bx+A+p4QM168djqYWCzo5WYUwITJi0RXg8Q4zPl0RpDEyNByvGmlzOdbsLoxbOHcvmlYHfoxQM13A6w8Vle04RxAqBg
XqBgec0IlqSGP/a4HgA89htXr5exA5wICY8tWO1jGNIEs1Mk4zgvXTIyZ/GB7XCakcR/vqCmYPSwPXCgH85u7zT6nv3WBmMx
HZ629dUnuoWvZ4uCUmKXhQOm/tPTmeXREGfcjrPejNDbH1pOAdw/QKrb2LFvI7C8k+Ync6CFyLe9zPux81g/QqeliqRO9ZGv
VntsPkXwmdYjDymvzoAcrF54nIF5lw8JjvvuVTZQuG3t5DMmBOLxeBY5uopzdsKbjGKNN7dS4W608ZleWRZRJ7wOOP8XF6Tm
eQ==
""",
        file="""\
id,message
m0,win a prize now
m1,see you at lunch
m2,free money today
m3,meeting moved to noon
m4,claim your free prize
m5,lunch at noon today
m6,cash prize for you now
m7,are you at the meeting
m8,free cash now
m9,see you at the office
m10,win money today
m11,the office is closed
m12,win a prize now again
m13,see you at lunch again
""",
        rows=12,
        options=("--id", "id", "--text", "message"),
        check=(0, 2, 7, 9),
        exported="""\
id,label,kind,who,when,necessity,thought,final
m0,spam,label,ann,2023-11-14T22:13:20.000Z,0.25,spam,spam
m1,ham,label,ann,2023-11-14T22:13:21.000Z,0.25,ham,ham
m2,spam,label,ann,2023-11-14T22:13:22.000Z,0.25,spam,spam
m3,ham,label,ann,2023-11-14T22:13:23.000Z,0.25,ham,ham
m4,spam,label,ann,2023-11-14T22:13:24.000Z,0.25,spam,spam
m5,ham,label,ann,2023-11-14T22:13:25.000Z,0.25,ham,ham
m6,spam,label,ann,2023-11-14T22:13:26.000Z,0.25,spam,spam
m7,ham,label,ann,2023-11-14T22:13:27.000Z,0.25,ham,ham
m8,spam,label,ann,2023-11-14T22:13:28.000Z,0.25,spam,spam
m10,,unsure,bob,2023-11-14T22:14:13.000Z,,,
""",
        predicted=(
            ("m0", "spam", 0.59198978, 0.0043171476),
            ("m1", "ham", 0.89333686, 0.30007584),
            ("m2", "spam", 0.5325374, 0.00053297073),
            ("m3", "ham", 0.89164492, 0.29504352),
            ("m4", "spam", 0.89299465, 0.29737254),
            ("m5", "ham", 0.90291275, 0.31081881),
            ("m6", "spam", 0.89552305, 0.30375973),
            ("m7", "ham", 0.61125636, 0.0065602363),
            ("m8", "spam", 0.90081721, 0.30866675),
            ("m9", "ham", 0.69060117, 0.02258254),
            ("m10", "ham", 0.5360826, 0.0006207985),
            ("m11", "ham", 0.50626687, 1.7926504e-05),
            ("m12", "spam", 0.59198978, 0.0043171476),
            ("m13", "ham", 0.89333686, 0.30007584),
        ),
    ),
}
"""By what their rows are."""
