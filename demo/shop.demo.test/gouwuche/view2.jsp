<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8" />
<title>家常红烧肉的做法_巧妇厨房</title>
<meta name="keywords" content="" />
<link rel="stylesheet" type="text/css" href="/style.css" />
<script type="text/javascript" src="/js/swfobject.js"></script>
</head>
<body>
<div id="header"><h2>巧妇厨房</h2>
<ul id="nav"><li><a href="/">首页</a></li><li><a href="/zuofa/">家常菜</a></li><li><a href="/gouwuche/">购物车</a></li></ul></div>
<div id="wrap">
<div id="main">
<h1>家常红烧肉的做法</h1>
<div class="info">发布：本站编辑 点击：1024</div>
<div class="content">
<p>凉皮拌上黄瓜丝、面筋和辣椒油，夏天吃最开胃。订单满8十元包邮，白塔镇以外地区两到三天送达。五花肉切成两厘米见方的块，冷水下锅，焯水后捞出沥干。</p>
<p>本店的铁锅由青石桥老师傅手工敲打，第一次使用前请先开锅。面粉与水的比例大约是二比一，揉好后盖上湿布醒半个小时。</p>
<p>锅里放少许油和冰糖，小火炒至枣红色，再下肉块翻炒上色。顾客黄国栋留言：锅很好用，就是有点沉，包装也很仔细。</p>
</div>
</div>
<div id="side">
<div class="box"><h3>上一篇 下一篇</h3>
<ul>
<li><a href="/gouwuche/view1.jsp">砂锅保养2个小窍门</a></li>
<li><a href="/gouwuche/view3.jsp">砂锅保养4个小窍门</a></li>
<li><a href="/gouwuche/">购物车</a></li>
</ul></div>
<div class="box"><h3>相关内容</h3>
<ul>
<li><a href="/gouwuche/view4.jsp">清蒸鲈鱼</a></li>
<li><a href="/gouwuche/view1.jsp">砂锅保养2个小窍门</a></li>
<li><a href="/gouwuche/view3.jsp">砂锅保养4个小窍门</a></li>
</ul></div>
</div>
</div>
<div id="footer"><p>Copyright &copy; 2009 巧妇厨房 版权所有</p>
<p>京ICP备05000000号</p></div>
</body>
</html>
