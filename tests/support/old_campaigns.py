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
eNrtnXuMG8Udx9fvx9k7eTS44Y9q4zzurhxm12+nRHu59JJcc49wuZQL4TjW9lxszmcfXjshREl7CRRQgKBUKlJRRfiD
0qoUgkqhlAirUmlR1CgpTQVFLSWBPNqEQhIOmhBQZ2Z9Zzu+y/kaUJXq95E8szv72+98fzPrk2ZHidfc1J7MYWEgkx1S
coKPm8HpdFyzIHAcZyAfO1fCTD7GsnMdNzUGzhPTOdG/OVvdPg71oQP8TuR17udvdww4f0SaAAAAAAAAAACokZF6m8U1
d65ue2NOiaZwCisqVrXSvqy7dWlPq9CztKW9VdDahAa7zZ3NbHILbZ09rStau4XOrh6hc217e5Ngt21KZISe1t6eisZ8
OpdMCS1tK8gdFRfUYSWLhZaurvbWpZ0VV1Z3t3Us7V4nrGpdJzSw7hrtjdv9Fub0nmXMKd6I0zlVK60VTrU26jSdH4ri
7IRW3YN4s7va7GAyHa9unTCvISWOJ0qrYnhoQ0qJ4hS7n57llOwGnBs/TeMYVtVkbrOwvL1rqRaRyOQ3JEohZE01QTcV
Y6Ql2kjb13a23bS2lQwbTZAM23VWs0ueq+NIYvgu9c4UWan1K/lchp33a2PVL2m1bWS2yeJyuXTbTWyMyQTlVFaYK0aY
NbEBVoZw9chcZthjmXSO9CS0tHe1XCYdItskFJOyNzaaza4lrslSYGb6JVZZRhYYtATqWQIkckhlhbEiAdZ0+Wc5OcFz
EMOplDrBk4DjSWV8uiZ4eMvnJRmnGRkvlxFz1y+xypTWsYRGvsESGlBiOZUV+oqEWNPkM7JRSeUnaK4adGpNfzlrrJ9+
iVV0bW+lf0Oc5KOvO8Chj0gBAAAAAAAAAMDVw/0L9EbXI8tUnMsPb3HTRYF7seBWk3dj1d0kuOkCmTaw1QhtIAsclTRI
QXI8kMSpOD1b705n6cVNyXguQQ8SOEmWtPQolkll8ll3HznM4btyJDidT6XozZlUHGdL57GUoqpYU1OHlFSK3p2iq2d2
s5rLKjm8YTM1k8DZeDK9gQaoGFN/PnI4jDPDKepeomoJHBskx35qGceSw/TClup0BrCSy2dxTUkIS4QoWVdVNGRJ99Re
ZlMaZ5mK2EQNeJuoJ1+fFpsfSpcSxelYJl4MLo241veYP20trE7kkEqyFSiVlMSwJ0A9Z7LaRNCr6UyOSbq3NgmlDsbT
mqoPLbCiG9ET9tbWS2nMpuqmGFmZjicg1phO8bkq60i76dJupp66sizF8r7dY3eMBY4Z0SZUKAolFFXwCvHkwADO0lcd
7H5BSceFKI7R1blX0G5QPe6t2tcgOzSeXArnctqzwDqmObrjyQ1Ypd8Ut3cgEpNERQlF/GIgEA0FxFAoHg2Hov5QJOAL
KDiKxQG/PxAciPqiYSkejkZCcS85CkQlHPD63UXX40PxX/ru22rXGeYilXyrhhSJbvDr0WkOfUwKAAAAAAAAAAAAAACu
emwGl469G9TbDHNt2gsAuv8/w/kwh/6GXkS7UAI1o2v5s/wB/kl+G7+W9/Am59vOF0gAAAAAAAAAAAAA8AWyCJm4mas4
KbjeLUlBuuPr9fhDtPZ5Al5as33svkW8FhegcQHafr3oEdmB6JGk8Y3uhU4S18ZJfhrHdpAljz+s6fmD42H1DhLWwUk+
GuYrqgSLslKk1O/COk3PSwO9mr8Qu8Hv8YZKenZNT6JhzM31kifsLwpqW9maP5umJ9JAUdOTirJSWbpWE4c6uAiJEiNF
Od+YXFke8y0kbgUXpnHFLCMhzV3J3CIzEwvRoFD5iBGtiK/U6QITiWvj6FSIQU3EH9FqX6nLRUamRidCHJsILYwcBL2l
TA0kbhVHJ0L0ayqaaqCYSTFTPZOjEyH6xuTGdCORcbkFOmaOzoPo1TLV5sFXPv3zOBK1jKPTILJWUcu3LEu6/z8DPcah
T9FH6H10HP0dvYn+iPajV1EBvYR+gX6OnkJPkAAAAAAAAAAAAAAAAL4MTAaki1hpGbbQMmSmZdBEy4CRln4DLX16owHZ
vGbDTJ0URKwK8KzyO1nlc7DKW8cqyc4q0Ubuskp0/99Qt41zfOJYTCoAAAAAAAAAAL40RiIG00Lr9lu1f9XuUWNKCn+/
c23H6nU6biO3pT6O1Vi2frFQf+NAuL5JqB/IZHNZJd2fycYxbV+upFRM2tWEMozJeUOgqbFJ2CpcAfYfeh6Zlxie1byy
vvf3ioVrPrL7UeNhi75Zc/yhPFaPLNab6kveYzidy/7PzTNvwvrmI3d/5ZkV80ZlH0W9KF868N8z60zI+qCj94oM0/84
IXBFnu2WbfseuNZ6oTD4zswtD7qOFRzfVg/vuvheoXK0Oe49V/+mh3d9XBht/9qJe5eck7mT/5p38eTRSxL7UP7Nczqs
d50rLD2eOJhecbowx/nGP37243OFS+NufHTlk6dv/KDwydO/3LvwnVH5Zt/et71t5+VL+x3d/9B3D686WbjvMwFf+Ofp
wk+vmf2WbD5Tpffs56+v33fLkcKsr6ujvq7z8qtnZ/SIPWer/L0eF9Mr/3S4kNxz8+N/WPtuYVF4ZtcTkXNV+X5VOrX7
9t++XHht9/KfNDSMyi99fuc1rlc+qtIrxsn8xp62Bnm0YJptOXTmdx8UJulX/nR/X7b+2Jtyvr3loHfjW1X5FvOQ77XM
fm71kvOFNzpvfaHzqdNVesVxkVFPyw13bD8u3+Y7Obhn7xl5knGWu3dIC2574Gjh8R/M6t995lRVvsV5k48cW/VNXd/z
8kNnzt7jPnKiSq/4HMg7Pgt9fOHdY4VvtfauaXj2RJW/4nMlv7ZvztHb1h+VBx/b9uvQyyer8qXfGAP6M4cuoBOkAgAA
AAAAAAAAAADgamGmcaFVV/5O0TDLWD/eor2p05uMyGrrpfv/fN0Ih55GvcjAP8Ov443OZ523OE2OvY60Y1Hdq+QiAAAA
AAAAAABfDC28g+uYO9vEfk3bJF6WYCifVvNZHM1EdTsPHg9ZHbon3kenXul3Eo05s00c1zG1RjCfjmeUdJoq+IQpggNa
B8sdpAMXMemqwWSA/WhesYcbwk72AwCaTnOdZrSmZP3qYHK4KHPd6mKqa+zjTiyuKRREpczJsZ0NNvYLBPIhbeDZSVHU
Ng3RSLnofc1Wlt6YaFmua6zTEA2Xi+7otUzq1DIN0VC56HeGzZM6NU9DNFguuuV+06ROTdMQLX9kjm3aY5zUqXEaov5y
UfVXhkmdGqYh6isXzRzST+a0W6+J2moR9ZaLDp6czGi3TtO01qIplWsmuMl80v1/3vkph/6KXkS70RBaiebzn/N/4Z/n
d/F38K28QC4CAAAAAAAAAAAAVzMLDB26qd438TUEBZ01BAUcNQT566YOEhV7DUERWw1BYWsNQSFLDUFBcw1BAVMNQX5j
DUE+Qw1BXv18Q4dtqrcEdP+fmwFfBgAAAAAAAAAAAAD4f+Y/HBsW1A==
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
eNrtnXtsHEcdx/du7x37tolJL65Qu1xTLibOdXdvd28vNLrYxXlhO2niiAQrNXu7c74j6z2zu5eHIovakKhqQKhUKUUo
oFLUf6hAqKipAOkUCURKXykCVFJaHmpooGmhUkQfkMDMrGOfE7+iIKDo95FuZ/f3m/n9vr+ZlaXZ1Z133NVb9RBfrjkj
usfnmBuYQIBZz/MMw7D4k2CmieBPqOk6wCwMy2SNQCv3DhNf8iOG28M9mzzKSa0/S36qpdx6HJsAAAAAAAAAAFgk45l4
NNXeHpjo8PSShSyku8j1j4k7t/d0DfTwA13dvT28b+NXJeJpp7Y/zW/uH+jZ2LOd7986wPfv7O3t5BPx/ZUaP9Cza2CG
sW57VYvv3rwRj5jhcEd1B/HdW7f29nT1z/Bs2765r2v7bv7jPbv5VTRdR6JjQo5SpZ+/kypF+5Dtuf4xNkOpbyNK7fpI
CTmzSk3vRQfTV4vdW7XNq62z1jWim2i2smZMDzFYeglZdDy58nRnGHlTlzYykOtWvYP8ht6tXX6PSq0+XJnugvdUs6SZ
MUd+oR3EvrN/8107e/C0kQLxtK2ORVLF9gCDC0MH3M9YeKc2pNe9Gr0e8udqSPTb+HhbOJpKpQITYTrHeIE8lx4iM2aY
mugE6yPo6pmZZ9qNmu3hTHx379buecrBYTv5yaISHR2RSGpdaq4SqJghkTbR8ZWsX0CGFoB7jrj0EJpRADXNfy9XZ7kP
DGRZ7ix3AjKr+tRyzXLzNq9L1SQVheariKobEmkTtgO0oPGP0oLKuuG59BCcURA1zb0i+3SrPov5qkkn0oLzSaN5hkTa
kL19jPwNacWfYGuF4S7gAwAAAAAAAAAAAHDdHI4HQ6n7Wl3k1UcPpcl+Lb2Wp62Z7uTT5NkFMdCNIjHgvaeLDaKEz8tV
ZJnkajBtIXvYq5AO+1F1uOKl9+BTDx3wsNeuWxbpXbNM5ExfG5buusgf7o7olkVGW+RJBh3seo7uoeGDJHsFOWbVHiYd
XISIoBw+HUW1UYvIFUm0CjL24nOZaERGdZQ4Dl2tv4x0r+6geVTX9tvIoX6hkxeJxahZ9RF7WjmyjZo52Wd6zqaDXU7q
P2xw50pLQtNtPgktZlWV6Kg5/owSp13zaOT0WCc/nWdS6iLyNBU1lUfKKtrcefxVc0amXBbyPL9SOoQoSZvVYeSShU0b
uqDnDLFU0tVCXlMlVSgJsibJBaUgSyUtr+i6bBiqrMqaaghlSdekglYS86VyXkKCrqcnk/vpxhIBtp1z8UqO6CJ5wR/k
zjPc3/ABAAAAAAAAAAAAAID3PXE2FaAPoIJxtj3uPwAg7/9bks8x3FnuGe573EPcZ7ky18fJ3E1cMHkOOwAAAAAAAAAA
AADgf44VS8JM2xrGEcXBtJTNqeTFt0zaPSsSkx5hMC1MeoSshD03xsPM0tWMUxhM57IideSyeTwihu23M442mF4jZAWZ
OMSsLKf3pKLYg2PlyYic4idRReyI+A6V5NBUf4RCHGHfoQzinvm8n6OgYEfId8hkRGFyRK6AHazvyJEcfnI5q2FHexA7
RMaRsCxcokg8WJ9IxgT8MbR4VfazqDhLO+OPwbWvEbN56sEnOVwLef/fwj3GcO9xF7jz3Kvcy9yvuOe5U9xJ7gfc49gB
AAAAAAAAAAAAAMB/lAi7NOAU4rTRYrTJR2mjRmijhGkjh2iTY2kjBaNsW8ARxSV+KyTC7NK4I+JjzBHI+3+21WaSJ5LL
cAMAAAAAAAAAAAD8Wxj/EBu+LTbR6X9zPusauoUe6N/Zt213gNnHHMqYyDWczFo+c0dZy3TymXLN8RzdHqo5JiL2Dbrl
Imx3K/oowterpM6OTn6Mvw4Sv731czfdWGPW37NmyzffSjHrx9PBcGZao4Fsz/mvi8yfrrLH1beL25+8+fDrLwTXT2wI
hLnY4ZZd1yWM/LqCdF3aEoVLD17acOadRmjnV4a23H2xoVc6zqtH/lD8Qsd39cceebU45JztPb3lYmPixBNrf6pdaDzy
xcOjnzx5rrjs3nWRr2YvFL/PMv88cOy5Rubb9/zi3a+/0nh63VjkI2feLR5EY+8NVP9UPPSB73T1V37eOP77ZObRZ880
bv5x+9vHjr1R/HXmh0fHLrxVXH73o4l84bXGi133P3wy+nIj/MzaFWe/8eei8sqHD22qnS2+oG050nbpd40vJz546t5v
/bXx92D4ljt2/KZon7rloTff/EuRvP9nuV+S9/+v4QYAAAAAAAAAAAAAgPcLS0O3xQLNz5jYZaHMlMV/ohMMh7hYfBf9
/n/LJxjuBGdzK5NnkoeTQutLrUdaP9byj5avYQcAAAAAAAAAAMD8dLe0MH3tbWH6P8LDwryo+brt1h1UqpUCR5//Yz4W
Czz8Bvf600NLcIzlbWGG6Vs4hlq3zZpu2yRCjl+gs+In2JDACVJYZGoRIhX6rwAnM9yuxelP6ftx1sd9oYsqVnb3Vkcn
w6zeNlnqjtiUkmhqgQiC3KTkrPtklP6Wf/G0P/H0YjJo9BqC5pqD1k5HaHmXgzbVuiNyDUGl5qB7z4XnVBq+hqBic9AK
E5pL6aYQuQWXX15dpSxJiqlpuqnqZdPMaWU5p+RNhE/KmqZVR0ZrjleuWr6kn7DT8p7axDZHKquCVsqX9ZIhKCVBkQpl
XdORKCn5gq6bhnBlpOC0pqc2Bv1IcRqpJCoKUg0zl9MEwcybsqkoek5VZAnHF/KlKyM1SdoY8APFaCBJUiXRKJuiKRuF
slEWJROpJUkqCCXJlKTclYGaFNHv/yd7GO4l7gnufs7iNnLp5MXki8nHk19Kfho7AAAAAAAAAAAAAOAyK9m+wELbYpZ0
WmjHG7yV7YsvtJslgRbazodopwUeO7UsopO6ZBGdlMQiOsnxhTsJcmwRnXLRRXSSIovoJIbJ+3/mBriFAQAAAAAAAAAA
AOD/mX8B6W6qMA==
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
eNrtfQdUFMm3/sCQ05gBXbXBNWBkyJhKVFSQqJgWQQZoYJYJODMkwyKooJgQUEFkCZKRDAoqFCgCAkrGhBnTGnHR1Q34
JnS3iLK6//2/d87vvf7Oob+qW3Xv/ep2MzDTRbPS3oopQBEPLo/NECD6lCEUKSnKAgShUChU4Zcy5SPkhF8y/fpSlK+D
SpnpJqVKe0dRVD5LoTnRLqntoemp1qu5qHioxgtNJEiQIEGCBAkSJEiQ+EYET1aUV9fUlArRETBcWSgLZfBRvuSotGiF
uZmDOeJgttDKHJHYkClKito8rr82YmHjYL7UfAViY+uA2KyyspqOKCn6e3ERB/O1Dp8YfTkCJgtZaLFU6PHJAN+HwUOR
hba2VuZmNp+M2K2wsDZbsQ5Zbr4OmSJOp6OkE2IgL1a6Y5FYKeqHcgR8yVHhE6USm0gpx5ftivK+KFXbGw3U/lysN5Pj
/rn1i+tiM9zRLy3rk/KIDCyGK8oS+4t6AgbPExUQXQ7qhvL5TEEgssTK1kwyw4vr6+n1cYrwPdUX0nxSI8lCdUT2VTYW
9qvMhWUTLVBYtmkKcupAU4oiXBgawN/IEr5T28DwFXDF/Q2SWm2gS1gxeLisvLq6ulSIrLjGwhMk4IsPcp9UWGwSF5jB
Rj+vzN+U3Y3LEQgzIQutbBf+zXKEYacj2KKUdHTk5NTnqQ+2BLGYDXQxyQd/T5UsYLJ4AcKZbL74IPPJAsSmv7+WmV+4
DtxQFov/hSsBdWcyiNP1hYu3/3lhuotWJPN3KxKr20AXkyxHSryg4DniBXkw3AR88UH6kwWJTYOfET8Gy/cL5s+KLpIm
/XfSxHk20MUkem+vIHoNURV+SStvo9B6hQcSJEiQIEGCBAkSJEj8t2LXRmkZ9YNOfFTg67NZW/R7vPZsRFuABgj42tMR
bdF7Wtwg6gvfkvCFfbqesO3BRFnuop6jNlv4PpThiWo7TcemCl1wm2gml+WO8oRGji+LJey7sRh8PipxFb5HZIvmeAlJ
5M4X8BgC1DNQFMIL5bkzOZ6iYT6KioToC5s+KNeHJZJJF4XyQt28hW0DkTjUjekjGtj8mW4PlCHw5aGfqEXoohG8o9e/
o9+/Y9C/Y9i/Y9S/Y9y/Y9K/Y9q/Q9f9pPeJBrqeuARcfw7KE0sV9dy4LF82Z0BFUY4b173fJAHKY0sWxxANMxAfHnOT
eCaDhxMSyPUVNwWSI8Ly5bh5YW0Ol8vBmgIvsYcbg++Fs3DYn2gToYWnkckmGqLwPEmPyxeeLPF552GE5/bgoSjOCJ5B
3GFzOWgg0SNyMPmSI/IxKiFb3EAky2GjqAC7VLCmMKKfxIEILW4gAq47A+sSE4QNoV3Uxgsh4o9TsfVzPTyYbujHFiKR
R6gVNxBs2ZIO5smXrFtIeCmwMgsJ6Sde1P2YRSJJwCVODyHIn8nBCGHgDWKdWAYhYdURtTAh+FkSMSI+HaLrh4UKBJLL
Sdufy3PX3iq0uTM9Ub74W5mOutLdTRi6qKsBQ98YpdONDPVQI4aHkSGqZ2DoamJCdzXwcGeYMFzppnQjBoNBN9Q1cXU3
dRU6GpsYGkkqKJB8+zltVZKiatL4wu9cNoOuJHr/T3tGob0VHkiQIEGCBAkSJEiQIEGCBAkS//FQpKpLiT9olFakaipK
PgAQ3f9XUdtJoXXTamlZtF00D9oS2gQaRe2hWrVaunCABAkSJEiQIEGCBAkSJEiQ+P8FRFmWMnwehU2nO/a7AY983HXg
NEZJOENfOEPX8eOtdmx7gBOiKEsZCihsU0f8/j4i2UaB38l30lAQzphFYZs4ftz5IL4h76QlLxwxo7CNHfEtGrgvvinA
SUtOMsXIsd/+CwTbVCGJMk5WOGUOhW3oSGyKQPptYHBCZCQKDRz77dVA+u20cEKokhn6jp/un0DwzQdOY6SFMwwpbD3H
fhs28ARjpCSD9E9KINmp4TSaIhwUFg+rHbY5RaJcdP9fhXaCQvud1kt7Ruum3aR10ppodbQq2mlakXCABAkSJEiQIEGC
BAkSJEiQIPE/CjnqUCm2qaKYTBTEZCwvJiM5MRnKislARkz6VDHpSctTh0ux6XRlCesqyVKHKrLpwqMCW1d0/59Kbaco
/aZQIiQSJEj8hyNzNVV2lkKbiuTv8Wa6cdk+XI7oGTFRNqus7dZJUfwomye7o3w33uTZyOS5HiaTpyOTPbg8AY/B2cDl
uaMi+xIGi48K7Xwvhg8q7E8R/c2hoYHOdGQr8v8IpXcG1i8oCuHgKMZ/mijdPjG1EvyBcVbfheUdW6+AhbdlepT5F4BT
653relkFYH7xu8J3Cc0gV7rcFNmXDmarv4/QXR0FgtG5xcZVSaBEu7CmRyWE4BCrulEjOguIcZytN98pR3LTCH/HupPb
hnMSPvPDmT9NXjVZqp7QEe7UlbdrYSX4fRqaxNI6DJ4sczlA0coiGLfjzDj0aI/msyLCf+9rmedV5ZnA5q8STWu5BiIP
N9yo3q89ldBZidXnfe3PcvndrQT3TkyXCR/aStQLjzMwr4X1rNfqPaXgVXj8ykqTZCLegt91chd7x4Osh4pb7/R1gJ6h
lfPQ1s5B65iaNLvxSWExiMDYbpULqCv/GW7EeHysR4brmkQYHsyTo1w7BuccgednXjgBXn+4dlnHPx9+r1vmZX69EtQW
rbdZU3QG6NWAFX7q6aBsxttpLr35BCvdXrMnVD8O4uM418vZGUwJaCf8t15M2Ho5uekzP5wPNdx9sywlBszDdMQtlbmT
t+cwjEHjhj7v3Qh+0PKYGr3+OsG4HWfnlveh9clZhP+Pd2/eopbXgPXyp85OZ+YRebJeFf26M/McoTMFq092tLv5CFo+
xPm3IzrrdYuLiHrhcQbm1e2ZmN9JvQ50WOHHY0xaiHh/RHglLK26BEoPnnBbYpgC8y5EfYfIFMPB6rgsMHOraXIlsMZ4
76+F7a1b6GDRSwmvjesq4t4pgB+OTVlXZ7UXWlTHu126fxKqr8s9XTVxEfBczNPZr98BqI1206Xq68EaaHQv91ANeHCm
4Hkicprg9IqFxYnb5hHjOL+1nnKkY8x5wj89l6230KEcDvTDeZd0zFKDwpPQEtNxvTHBO1ElBu637NxetuQYdLhmGbkl
qYFgkV34+qa8A0jLainsYmEvcEx3j3/1ymZoMP3fvKyJXtk6/uJ589/LLRiMOXt8nWssPoCB9kalG8/VzlAJ/lqcwfgH
bnH2PbbUN88fmG+w/mC6Btrx/IPZv7bugfMGyztYnoF1/lo9wuWkZGkK0Spr//WPRLrev/qReOT+3rE6cvkg3PJwd6RG
Bzhpdjcq7OgNMMqpMr394mZo5LXpyZmbB0H0FN3c/cPvQ8eO0Bdnbt8GyOlmumNQCfBbeaIrZkoLTInbOkPuShSI5LxU
P+9QBep+bwp44aAEptvUPdqV9AiMyR/60N32NDza6t3BoKbCHr1LOTr1NdA4S/pWTtE1eOfSTxpT7+eC6FWXb2pG5oPO
kfTWqHfpYCN9VbVNRwFcI2vvPOLpVfjDuTO9TxMdIGMWdSeP2wq7nVOcnZ0qQHI2l7nY+gnQqF2xuk2jDZqhE47OyD0P
HB6sZLVzQoGXy6SECOsaEBNsXV374By80zqE8f5tJQx/W3dfZ9hhoCk1el/atAwYvtqcy2+6Ds6NZxcUXN4KXZa1HFGI
PAvWd/1S8kA3CtwMydi07mgp5DX3zGu5dw8u0LKnVd1/CJKye3+6Or4Ihs35yXnDmqPQOGixyma3ajikMqxWbgwH1P7J
tJJubIWC5ka9iC5boPB9UcCk1duB6pjYdu+TaYB5ofnBxMwWUHZy4jSTKZ0g/vWlLiOjvaBp6uvLffwq4Ofo0eM87wFw
bHP0CTG7B+o9paUflFqCq+5OsgptZQB5Mj9Ba9xPwCyv632HVwk0qziRsfjdEqDhkxJ3TLkDvKc2yFFcGoHjMbMF3zFa
4fj3qVXFzDswt27H5Kv0QlglC+1k4tOAfUILjyUfAq6l/fLmVPZ9MF/PUW7o3HgQavHdmrDedrC+JxQ5YOwFlXis1MTY
fNB6TXNSPqsONAXBN1pW9cAVeFF2vOoGmRpWrAVxECav3bBX2rUYnuiqQP/yuQBj7oxO1aA0w7PWRzTYOlvAT+yTz+LP
3gdbw21NRz/3gztP1jcjxUfAmZlnJpZt5oPVPo/8F37oBrtvn7tYHloJHzc7LdkebwOOZhsbeTvmwdCORT96lVQAnTm/
xr7KPwwtde+ukunZAZYfmOh49MYtOPPNhMO2wSlQdzX8ZbfcXbDq0LAwRoMLTP09w/xRciWkTni7nb+2CAybO+L51J5O
oLnX00dvyD3w15NTrDNHMmH3puNHIw+mAFlTLcRkaD2Y31cb+3rvbVgc7uo0e1I+oFwumL966W3ons7r2D0jAox+URoc
1wahnV1T+zHVqbAvM8koLeApaOtzS4maVgst7TQWvFuwGqT+kVHON2kESYlJ016WHYJps+5ODuwNBeUvRpUXBUWAXaN/
i5uqdhxG110ZoleQBqPSRihr7TwPo8tqH5cpGwOpB+9GZ2ldAyZb9N9dVCkHtVOesS+seAw2vF6U+qf1FbgnWso57341
CB2htO3diFg4Teugu2pnI+zp2bU9T5AIZNkjJ1n5V8K1My0UR4eVgqrvc456amRDZvDQ91NXXofDJ6azyrr9YUxRYMry
hZ1gbQbw0Rx9Frrm20hzmtcCBV+tQ+OG3wcIOjZs5/i7wOjQm3tTzDLg5oTe+aWTi6DRfc89x5bfAC/PphxinxH+Cm2R
4RHSsBtkRTWhQ++MAWEvhygxvWqg6P4/ldYmuv9/X0gkSJAgQYIECRIkSJAgQYIEif8M0GS0FKQ+fjQuPUpmFtH/eC+Q
KitDU1BcK7r/r6rcQ6Hl0pxpymqn1TzVRqmeV+Wpjle5qXJYxVA4RIIECRIkSJAgQYIEif9ULFRVoVhrDpcV//duWd2/
hZGxL4fvy0Ndua5Se5oeGisoSSU9pz29uUFFGGPkcFkKxfrrMYx8Oe5cBocjiqCPfGWyoSSBubIwgbpQ5MhvEGko/id9
WIZZJsqi/2ggCbNASaLzm9ZqwPdm+mBRptlhK7VXJITIj/xKBF3TfkIehC1QEAkBzZKyfxRlq4CFHE6RH/61kCb9Q25f
K+/1MaIXHtBe/h9oNO4fMMhHbhCNcv9Ao1H/kJt3yX5Ro+w/0Nj/hD7wT5QZRKPMP9Bo0D8kv5T6RY3Uf6BRv39AbrP0
lzXaSEtCKn6LRr3+Ib0ff0minZQknsK3SKT3j+dF+bJC0f1/VTWEQuuinaJF0ti0ZbQJan1q19SK1Q6o/ahmLhwiQYIE
CRIkSJAgQYIECRL/B/A91Vrqax8SqX7DJCOVb5hkqPwNkwyUvj5J11TxGyaZKHzDJGP5b5hkJPcNkwxlv2GSgcw3TNKn
fsMkPekJVGvFr31GILr/TxlCXuckSJAgQYIECRIkSJAgQYLE/3aIHrWDP3LnrMJVk5TTZcQjeZTStHfnK14D10b7uIba
LCMe3fOs6deWu+1txKN/LLBHDlkMK9QpiAqDOHtoVe6/NtoKjHsteQQRHgfPh3P1o3cTIvc0w3eMDzKWKgEQj/dC/3D4
3JAqeNohbma8/1kQmfXy3C7mDjjYo4kWP149e5u/O7T7RcL2lx0gp/sQ3Iiz4qSD6747B7sSap82VxXCCy/DLv/yRx18
vL7MwTknCzyu3BNDv54NR1bwH07WOwIty2m29h0pML124ZtjDgKA8+nCoLcapQ0AH8c5Q2XZjc7JqYDwPxUXWBxQ+Jkf
ztbaI9uaQy7BakzH9CnHXXnaFyEloevCybB6+NRCoGY0rRLgjNtxllb0ZF8d10n4L72c9ehFZCZcYRJjGstsJvL8gfw1
rKsgntD54pGkPifPsExu3f0J4Hx4wbqD+57WAw+sXnicgXktHesp4/KS4SZpU+1N1/IAHm/NJD25/JlF4JQ6b5tJdDKk
PFAriovaPmgdQzRVOR0LtoI8jP2gJgW2pwMWxgUbOPN7cipgsn3itsDttfBmdNeFCRd/hrMfUX/mxCUClyKTdH3vIMiW
6wm+WBoNblgMS9S5FQ97TzTSXr7JBji/irx/OTmjAVzHxnE+zu0blWSZB3wwf85u4Gvj6f+ZH87bW9eFpAbVwquYDte2
qc1XH7WA3vATxp23WsAbA1d2521/iDNux1kZnLVucGsAuH/CWmZ65/zVsKvY3bLnYg2RJ+fdsLuGdrGE3kVYfW6/Ss04
NOUCxJkevSp2e1od4GL1wuMMzFvYjvamJx6DrDuTvSuu8Yh4acF9nW9jd8Mtp3Xfv9pZAfVnFD5nrTlL1GdgHU+sz1z8
p1MzLMK4Z4tJ8g+CEGi0VcIVUQcezHj2M2hWHB9Cj48HKnN2301TiQaUcUvCmwzZsHW699DwvmRguqq1IWXnGcCpCdp3
wi8fZgdatu1ubwE4O77dkBASFg3xcZz3WLncVN1wBZhg/k/WpUrvcS39zA/nqGVSEz1WpgIlTMeSrPuh4R5JsNDNZ9n+
5Qkw9vnqfVZ6hwnG7TjXSu9cfttuO8T9tZ3nquw4Xg3H7Df9ZcypcCJPk8+se/GaiYTOLKw+2dtu86uK4wHOhhXpnNLG
SOiD1QuPMzBvb2O7S8nhjXDYHi/VqzntRLyg9789zbhaAceq/eUTHBkHk7a9Vc+ZFzVoHWMXJrS9qm0E+zF2YYb3ZT3b
CCZhXFEXG//uUSJo3VLdG1CaCPaquZ/KafUBc0asjXNK3AEU3p6yMIhrh07N01p/DGuB/OtycGxXGZS+W4pQtJoBzjUB
lq26Q5KIcZzXPHvoXVFRTPhHMYKzSipK4EA/nFMPP47jTU0EP2M6orfNS34V4Q9HxMb2luSGwhO2UXof3HMIxu04T/Fq
SBi7PQDi/oeCYjPWf18Or7i0uTy7cpjIk2mvtTgFtAJcZzRWn2a+07pjR5IIzvXPzNxRGwGZWL3wOAPzIhnra687Z0Dv
X8dOuFRcD/B4I0Z12CWFRoJRDxVZayqOwwszbHZw5yWBweq4cFWWqz0/BbhgHJRhUrGxrQEGY/zrolwrhb/yQPUbX8XQ
zbGgPmVHmfPqNnBrie8KrZsXodXGsWuv7kwCm+pVI4sfJQPdyYvN6t57ghKBpa/zbRNQiLHr+3s2OfEXwXRsHOefK4Oe
3T2ZCP0x/6BiH5/OiGI40A/n2Xzu8CPvW0ADpqOvJ6jwTWeT8PUpp4UWVAhXDC1VOGpcRTBux7l85azQOPOLhP/+J+xl
Nn25wApsnuWiUP0x3/nXiH9jIqHTHqvPm5vDdygdCyB4f9sfWa62cRCvGx5nYN4D5lmLpy46C6otOCU/vU2AeLxmjdwp
h8KKYIoFLUZ/5DlYrvaLsh6nGuJ5CwfUcddNGMEKPg/3Y3ygM5u2XeMwtMS4JiD3DeP3TDgSeWPtl54G97Tt974z7SCY
4ZdTdDg3BV4uy392/GQM5My5dLTsTgd8sHxGg/WIdiBj3zxxdtkJguuuGF6vuXcc4OM4HxSYL9OeU0/4v7w5d7XC+wOf
+eGcEjUjjjY1BvpjOpr+mH7hR9ODcFnRiz+32buAJxFb+nTWFxKM23He70t/lB8UAXB/ZknopdrQKngu/NimwN1hRJ7y
vPDujLEXCJ07sfq8ApZhy9NyCVbbKbUi2z8QhmH1wuMMzKvWoZl8PLAICLpkhq2KKoR4vAXL3I+UMwqAtOUkNNvtPNhW
epSy7nTBoHUMzC1KT7mzC9zEeOUuv8cH5rYDB4zTLUbdWlR8BiCxd6LNfFtgJ3r1xazJDeB+yTAdgwl1YGxr9xz39iCw
PG9E2u63u8A+xatuM08z4YshWZsyA3ngFcbbqB+6jzwOAn7YOM52+y7/UbEyAtpj/qlHz5bE2x6HA/1wlm6Vj/s1Kwte
wXT0nZDq03lSASJXqrSM2FQDnX+Q2zXErYBg3I7zsqXHYn4Ykghw/3GR9vNm+0eAEqOxE1OF1zmeJ/BGQJMnZSeh9yJW
H+4zO3qNdTvEOfrB5iSNETVE3fA4A/NSXrkq/95ZBuRzYiLNCmOJeC8SGhbLzkyFaOa8KErqcbjo6Rzn6KwUoj6vBtbx
bF5A6LZzYBfG9f6N/MY+F7g9UMJmXtJeW6k86Py86oXKsbXQ1/XeFsdTP8Kp16/s23x9DTTXHnMrXxnCyhvZyzsfVcNf
D5zjhKceBtzTj7t715+Efhindul2hziOBVoRknGcTXfLnPL/cBmcw/z3dh5v+XnuPTDQD2fj3WvKgqp84A8MiY566vLx
+0Jt4NaGD36/GduBxX5Brk9PRhGM23FOUQiJzH2zgfA3eDdpbHmFO/CyHrf7UvocIk9rQkzCh0u5hM7NWH1WNPAWUWNs
Ic5lHVdvXM9ZCVcESOqFxxmYN3TVxHO25/eBqZdNnOMmdkI83jU4sfr9jrvQz497UNk1HJgu+cBvu+UG8bx+A+p4QM16
8djqYWCzo5WYUwITJi0RXg8Q4zPl0RpDEyNByvGmlzOdbsLoxbOHcvmlYHfoxQM13A6w8Vle04RxAqBgXqBgec0IlqSG
P/a4HgA89htXr5exA5wICY8tWO1jGNIEs1Mk4zgvXTIyZ/GB7XCakcR/vqCmYPSwPXCgH85u7zT6nv3WBmMxHZ629dUn
uoWvZ4uCUmKXhQOm/tPTmeXREGfcjrPejNDbH1pOAdw/QKrb2LFvI7C8k+Ync6CFyLe9zPux81g/QqeliqRO9ZGvVnts
PkXwmdYjDymvzoAcrF54nIF5lw8JjvvuVTZQuG3t5DMmBOLxeBY5uopzdsKbjGKNN7dS4W608ZleWRZRJ7wOOP8XF6Tm
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
